import { contract } from '@tallygate/contract';
import type { BlobStore } from '../adapters/blobs/port.ts';
import type { Job, JobQueue } from '../adapters/queue/port.ts';
import { BatchLocks, BatchWork, batchRoutes, createBatches } from '../batches/index.ts';
import { createFiles, createUploads, type Files, fileRoutes, type Uploads, uploadRoutes } from '../files/index.ts';
import {
  BackgroundResponses,
  Conversations,
  chatOperation,
  compactOperation,
  conversationRoutes,
  createStandingOf,
  enqueueResponse,
  type FollowResponse,
  followResponse,
  type InferenceDeps,
  type OpenFile,
  type Operation,
  responseJobs,
  responseOperation,
  STATELESS_OPERATIONS,
  StoredChats,
  StoredResponses,
  storedChatRoutes,
  storedResponseRoutes,
} from '../inference/index.ts';
import { settledAmong } from '../ledger/index.ts';
import { createVideos, StoredCharacters, StoredVideos, type Videos, videoJobs, videoOperations, videoRoutes } from '../videos/index.ts';
import type { Accounts } from './accounts.ts';
import type { Books } from './books.ts';
import type { Foundation } from './foundation.ts';
import { type Endpoint, endpointsOf } from './http/endpoint.ts';

/** What outlives its request: files, stored conversations and answers, videos, background responses and batches. */
export interface KeptWork {
  readonly files: Files;
  readonly uploads: Uploads;
  readonly videos: Videos;
  readonly followResponse: FollowResponse;
  /** Every operation that the inference front serves. */
  readonly operations: readonly Operation[];
  readonly endpoints: readonly Endpoint[];
  readonly jobs: readonly Job[];
  readonly batchWork: BatchWork;
}

interface KeptWorkDeps {
  readonly foundation: Foundation;
  readonly blobs: BlobStore;
  readonly queue: JobQueue;
  readonly books: Books;
  readonly accounts: Accounts;
  readonly inference: InferenceDeps;
}

/** When this returns, what was held for batches is held again, before anybody else can spend it. */
export async function openKeptWork({ foundation, blobs, queue, books, accounts, inference }: KeptWorkDeps): Promise<KeptWork> {
  const { config, log, clock, pool } = foundation;
  const { catalog, tokenizer } = inference;
  const { users } = accounts.identity;
  const { storageBytes } = config.files;
  const files = createFiles({ pool, blobs, clock, log, storageBytes });
  const uploads = createUploads({ pool, blobs, clock, log, storageBytes });
  const openFile: OpenFile = async (owner, fileId) => {
    const { file, read } = await files.open(owner, fileId);
    return { ...file, read: () => read() };
  };

  const videoDeps = {
    ...{ pool, blobs, catalog, refunds: books.refunds, clock, log, queue },
    videos: new StoredVideos(pool, clock),
    characters: new StoredCharacters(pool),
    deployments: inference.deployments,
    keptMs: config.videos.keptMs,
  };
  const videos = createVideos(videoDeps);

  const chats = new StoredChats(pool, clock);
  const conversations = new Conversations(pool, clock);
  const responseDeps = {
    ...{ conversations, catalog, tokenizer, clock, openFile },
    responses: new StoredResponses(pool, clock),
    background: new BackgroundResponses(pool, clock),
    enqueue: enqueueResponse(queue),
  };
  const operations = [
    ...STATELESS_OPERATIONS,
    chatOperation({ chats, openFile }),
    responseOperation(responseDeps),
    compactOperation(responseDeps),
    ...videoOperations(videoDeps),
  ];

  const standingOf = createStandingOf({ grantOfKey: accounts.grantOfKey, users, clock });
  const batchDeps = {
    ...{ pool, files, inference, operations, locks: new BatchLocks(pool, log), linesAtOnce: config.batchLines },
    standingOf,
    settledOf: async (requestIds: readonly string[]) => {
      await books.write();
      return settledAmong(pool, requestIds);
    },
  };
  const batchWork = new BatchWork(batchDeps);
  await batchWork.resume();
  return {
    ...{ files, uploads, videos, operations, batchWork },
    followResponse: followResponse(responseDeps),
    endpoints: [
      ...endpointsOf(contract.storedResponses, storedResponseRoutes(responseDeps)),
      ...endpointsOf(contract.conversations, conversationRoutes(conversations)),
      ...endpointsOf(contract.storedChats, storedChatRoutes(chats)),
      ...endpointsOf(contract.files, fileRoutes(files)),
      ...endpointsOf(contract.uploads, uploadRoutes(uploads)),
      ...endpointsOf(contract.videos, videoRoutes(videos, videoDeps.characters)),
      ...endpointsOf(contract.batches, batchRoutes(createBatches({ ...batchDeps, work: batchWork }))),
    ],
    jobs: [...responseJobs({ deps: { ...responseDeps, inference, standingOf }, chats, log }), ...videoJobs(videoDeps)],
  };
}

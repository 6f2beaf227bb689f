import { contract } from '@tallygate/contract';
import type { BlobStore } from '../adapters/blobs/port.ts';
import type { Job, JobQueue } from '../adapters/queue/port.ts';
import type { Timer } from '../adapters/timers/port.ts';
import { BatchLocks, BatchWork, batchRoutes, createBatches, MessageBatches, messageBatchRoutes } from '../inference/batches/index.ts';
import {
  BackgroundResponses,
  backgroundWork,
  CachedAnswers,
  Conversations,
  chatOperation,
  clientSecretRoutes,
  compactOperation,
  conversationRoutes,
  createCallerStatusOf,
  createRecordings,
  enqueueResponse,
  type FollowResponse,
  followResponse,
  type InferenceDeps,
  messageTokenRoutes,
  type OpenFile,
  type Operation,
  responseOperation,
  StoredChats,
  StoredResponses,
  statelessOperations,
  storedChatRoutes,
  storedResponseRoutes,
  sweepCachedAnswers,
} from '../inference/calls/index.ts';
import { createFiles, createUploads, type Files, fileRoutes, type Uploads, uploadRoutes } from '../inference/files/index.ts';
import {
  createVideos,
  StoredCharacters,
  StoredVideos,
  type Videos,
  videoOperations,
  videoRoutes,
  videoWork,
} from '../inference/videos/index.ts';
import { isSettled, settledAmong } from '../money/ledger/index.ts';
import type { PlanBook } from '../money/plans/index.ts';
import type { Accounts } from './accounts.ts';
import { anchorAnswerOf } from './anchoring-config.ts';
import type { Billing } from './billing.ts';
import type { Foundation } from './foundation.ts';
import { type Endpoint, endpointsOf } from './http/endpoint.ts';

/** What outlives its request: files, stored conversations and answers, videos, background responses and batches. */
export interface StatefulResources {
  readonly files: Files;
  readonly uploads: Uploads;
  readonly videos: Videos;
  readonly followResponse: FollowResponse;
  /** Every operation that the inference front serves. */
  readonly operations: readonly Operation[];
  readonly endpoints: readonly Endpoint[];
  readonly jobs: readonly Job[];
  readonly timers: readonly Timer[];
  readonly batchWork: BatchWork;
  readonly messageBatches: MessageBatches;
}

interface StatefulResourcesDeps {
  readonly foundation: Foundation;
  readonly blobs: BlobStore;
  readonly queue: JobQueue;
  readonly billing: Billing;
  readonly accounts: Accounts;
  readonly inference: InferenceDeps;
  readonly plans: PlanBook;
  readonly publicUrl: () => string;
}

/** When this returns, what was held for batches is held again, before anybody else can spend it. */
export async function openStatefulResources(deps: StatefulResourcesDeps): Promise<StatefulResources> {
  const { foundation, blobs, accounts, plans } = deps;
  const { config, log, clock, pool } = foundation;
  const cachedAnswers = new CachedAnswers({ pool, clock, content: accounts.content, mostBytes: config.answerCacheBytes });
  const { storageBytes } = config.files;
  const anchorAnswer = anchorAnswerOf(config);
  const files = createFiles({ pool, blobs, clock, log, storageBytes });
  const uploads = createUploads({ pool, blobs, clock, log, storageBytes });
  const videoDeps = videoDepsOf(deps);
  const videos = createVideos(videoDeps);
  const stored = openStoredAnswers(deps, files);
  const operations = [...stored.operations, ...videoOperations(videoDeps)];
  const callerStatusOf = createCallerStatusOf({
    ...{ grantOfKey: accounts.grantOfKey, users: accounts.identity.users, spendingOf: accounts.spendingOf, plans, clock },
  });
  const { batchWork, batches } = await openBatches(deps, { files, operations, callerStatusOf });
  const messageBatches = new MessageBatches({ batches, files });
  const responsesInBackground = backgroundOf(deps, stored, callerStatusOf);
  const videosFollowed = videoWork(videoDeps);
  return {
    ...{ files, uploads, videos, operations, batchWork, messageBatches },
    followResponse: followResponse(stored.responseDeps),
    endpoints: [
      ...endpointsOf(contract.storedResponses, storedResponseRoutes(stored.responseDeps)),
      ...endpointsOf(contract.messageTokens, messageTokenRoutes(deps.inference)),
      ...endpointsOf(contract.conversations, conversationRoutes(stored.conversations)),
      ...endpointsOf(contract.realtime, clientSecretRoutes({ ...deps.inference, secrets: accounts.clientSecrets })),
      ...endpointsOf(contract.storedChats, storedChatRoutes(stored.chats)),
      ...endpointsOf(contract.files, fileRoutes(files)),
      ...endpointsOf(contract.uploads, uploadRoutes(uploads)),
      ...endpointsOf(contract.videos, videoRoutes(videos, videoDeps.characters)),
      ...endpointsOf(contract.batches, batchRoutes(batches, { anchorAnswer })),
      ...endpointsOf(contract.messageBatches, messageBatchRoutes(messageBatches, { anchorAnswer, publicUrl: deps.publicUrl })),
    ],
    jobs: [...responsesInBackground.jobs, ...videosFollowed.jobs],
    timers: [...responsesInBackground.timers, ...videosFollowed.timers, sweepCachedAnswers(cachedAnswers)],
  };
}

function videoDepsOf({ foundation, blobs, queue, billing, accounts, inference }: StatefulResourcesDeps) {
  const { config, log, clock, pool } = foundation;
  return {
    ...{ pool, blobs, catalog: inference.catalog, refunds: billing.refunds, clock, log, queue },
    videos: new StoredVideos(pool, clock, accounts.content),
    characters: new StoredCharacters(pool, accounts.content),
    deployments: inference.deployments,
    keptMs: config.videos.keptMs,
  };
}

type StoredAnswers = ReturnType<typeof openStoredAnswers>;

/** Stored chats, responses and conversations, and the operations that answer out of them. */
function openStoredAnswers({ foundation, queue, accounts, inference }: StatefulResourcesDeps, files: Files) {
  const { clock, pool, closing } = foundation;
  const { catalog, tokenizer } = inference;
  const { content, storing } = accounts;
  const openFile: OpenFile = async (owner, fileId) => {
    const { file, read } = await files.open(owner, fileId);
    return { ...file, read: () => read() };
  };
  const recordings = createRecordings();
  closing.add('recordings', () => recordings.close());
  const chats = new StoredChats(pool, clock, content);
  const conversations = new Conversations(pool, clock, content);
  const responseDeps = {
    ...{ conversations, catalog, tokenizer, recordings, clock, openFile, storing },
    responses: new StoredResponses(pool, clock, content),
    background: new BackgroundResponses(pool, clock, content),
    enqueue: enqueueResponse(queue),
  };
  const operations: readonly Operation[] = [
    ...statelessOperations({ recordings }),
    chatOperation({ chats, openFile, storing, recordings }),
    responseOperation(responseDeps),
    compactOperation(responseDeps),
  ];
  return { chats, conversations, responseDeps, operations };
}

interface BatchParts {
  readonly files: Files;
  readonly operations: readonly Operation[];
  readonly callerStatusOf: ReturnType<typeof createCallerStatusOf>;
}

async function openBatches({ foundation, billing, accounts, inference }: StatefulResourcesDeps, parts: BatchParts) {
  const { config, log, pool } = foundation;
  const batchDeps = {
    ...{ pool, content: accounts.content, inference, locks: new BatchLocks(pool, log), linesAtOnce: config.batchLines },
    ...parts,
    settledOf: async (receiptIds: readonly string[]) => {
      await billing.write();
      return settledAmong(pool, receiptIds);
    },
  };
  const batchWork = new BatchWork(batchDeps);
  // Batches are run by the process that has the lanes.
  if (!foundation.authority) await batchWork.resume();
  return { batchWork, batches: createBatches({ ...batchDeps, work: batchWork }) };
}

function backgroundOf(
  { foundation, billing, inference }: StatefulResourcesDeps,
  { responseDeps, chats }: StoredAnswers,
  callerStatusOf: BatchParts['callerStatusOf'],
) {
  const { log, pool } = foundation;
  const deps = {
    ...{ ...responseDeps, inference, callerStatusOf },
    isSettled: async (requestId: string, receiptId?: string) => {
      await billing.write();
      return isSettled(pool, requestId, receiptId);
    },
  };
  return backgroundWork({ deps, chats, log });
}

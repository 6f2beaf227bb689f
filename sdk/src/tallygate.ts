import { Accounts } from './accounts.ts';
import { type Address, baseUrlOf, credentialOf, openaiAddress } from './address.ts';
import { Anchors } from './anchors.ts';
import { Audio } from './audio.ts';
import { AuditLog } from './audit.ts';
import { Batches } from './batches.ts';
import { Budgets } from './budgets.ts';
import { Models } from './catalog.ts';
import { ClientRequests } from './client-requests.ts';
import { Content } from './content.ts';
import { Conversations } from './conversations.ts';
import { Deployments } from './deployments.ts';
import { DeviceLogins } from './device-logins.ts';
import { Discovery } from './discovery.ts';
import { Emails } from './emails.ts';
import { Events } from './events.ts';
import { Files } from './files.ts';
import { Identity } from './identity.ts';
import { Images } from './images.ts';
import { Chat } from './inference.ts';
import { Invites } from './invites.ts';
import { Keys } from './keys.ts';
import { Requests, Usage } from './ledger.ts';
import { MarketingEvents } from './marketing-events.ts';
import { Mfa } from './mfa.ts';
import { People } from './people.ts';
import { Plans } from './plans.ts';
import { Receipts } from './receipts.ts';
import { Responses } from './responses.ts';
import { Runs } from './runs.ts';
import { Sessions } from './sessions.ts';
import { Completions, Embeddings, Moderations } from './texts.ts';
import type { Call } from './transport/call.ts';
import type { CallOptions } from './transport/call-options.ts';
import { checkedTimeoutMs } from './transport/deadline.ts';
import type { OnDebug } from './transport/debug.ts';
import { checkedMaxRetries } from './transport/retry.ts';
import { type Operation, Transport } from './transport/transport.ts';
import { Uploads } from './uploads.ts';
import { Users } from './users.ts';
import { Videos } from './videos.ts';

/** Ten minutes, as OpenAI's SDKs: reasoning models take their time. */
const DEFAULT_TIMEOUT_MS = 600_000;
const DEFAULT_MAX_RETRIES = 2;

export interface TallygateOptions extends Address {
  /** Default: the runtime's own. */
  readonly fetch?: typeof fetch | undefined;
  /** Time for one attempt, milliseconds; of a stream, the longest silence. Default: ten minutes. */
  readonly timeoutMs?: number | undefined;
  /** How often a failed attempt is repeated. Default: 2. */
  readonly maxRetries?: number | undefined;
  /** Further headers of every request, such as a `user-agent`. Those of a call win over them. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Told about requests, answers and retries; never about credentials or content. */
  readonly onDebug?: OnDebug | undefined;
}

/** A request in the API's own terms. */
export interface ApiRequest {
  readonly method?: Operation['method'] | undefined;
  /** From the address of the gateway on: `/v1/usage?group_by=model`. */
  readonly path: string;
  /** Sent as JSON. */
  readonly body?: unknown;
}

/** A client of one gateway with one credential. It holds no connection and needs no closing. */
export class Tallygate {
  /** Without `/v1`. */
  readonly baseUrl: string;
  readonly identity: Identity;
  readonly mfa: Mfa;
  readonly deviceLogins: DeviceLogins;
  readonly users: Users;
  readonly accounts: Accounts;
  readonly sessions: Sessions;
  readonly auditLog: AuditLog;
  readonly keys: Keys;
  readonly budgets: Budgets;
  readonly plans: Plans;
  readonly events: Events;
  readonly marketingEvents: MarketingEvents;
  readonly runs: Runs;
  readonly models: Models;
  readonly deployments: Deployments;
  readonly usage: Usage;
  readonly requests: Requests;
  readonly receipts: Receipts;
  readonly anchors: Anchors;
  readonly chat: Chat;
  readonly responses: Responses;
  readonly conversations: Conversations;
  readonly completions: Completions;
  readonly embeddings: Embeddings;
  readonly moderations: Moderations;
  readonly images: Images;
  readonly audio: Audio;
  readonly files: Files;
  readonly uploads: Uploads;
  readonly batches: Batches;
  readonly videos: Videos;
  readonly invites: Invites;
  readonly clientRequests: ClientRequests;
  readonly content: Content;
  readonly people: People;
  readonly emails: Emails;
  readonly discovery: Discovery;
  /** Private, so that printing or serialising a client cannot show the credential. */
  readonly #credential: string | undefined;
  readonly #transport: Transport;

  constructor(options: TallygateOptions = {}) {
    this.#credential = credentialOf(options);
    this.baseUrl = baseUrlOf(options.baseUrl);
    this.#transport = new Transport({
      baseUrl: this.baseUrl,
      credential: this.#credential,
      fetch: options.fetch ?? globalThis.fetch,
      timeoutMs: checkedTimeoutMs(options.timeoutMs ?? DEFAULT_TIMEOUT_MS),
      maxRetries: checkedMaxRetries(options.maxRetries ?? DEFAULT_MAX_RETRIES),
      onDebug: options.onDebug,
      headers: options.headers ?? {},
    });
    const transport = this.#transport;
    this.identity = new Identity(transport);
    this.mfa = new Mfa(transport);
    this.deviceLogins = new DeviceLogins(transport);
    this.users = new Users(transport);
    this.accounts = new Accounts(transport);
    this.sessions = new Sessions(transport);
    this.auditLog = new AuditLog(transport);
    this.keys = new Keys(transport);
    this.budgets = new Budgets(transport);
    this.plans = new Plans(transport);
    this.events = new Events(transport);
    this.marketingEvents = new MarketingEvents(transport);
    this.runs = new Runs(transport);
    this.models = new Models(transport);
    this.deployments = new Deployments(transport);
    this.usage = new Usage(transport);
    this.requests = new Requests(transport);
    this.receipts = new Receipts(transport);
    this.anchors = new Anchors(transport);
    this.chat = new Chat(transport);
    this.responses = new Responses(transport);
    this.conversations = new Conversations(transport);
    this.completions = new Completions(transport);
    this.embeddings = new Embeddings(transport);
    this.moderations = new Moderations(transport);
    this.images = new Images(transport);
    this.audio = new Audio(transport);
    this.files = new Files(transport);
    this.uploads = new Uploads(transport);
    this.batches = new Batches(transport);
    this.videos = new Videos(transport);
    this.invites = new Invites(transport);
    this.clientRequests = new ClientRequests(transport);
    this.content = new Content(transport);
    this.people = new People(transport);
    this.emails = new Emails(transport);
    this.discovery = new Discovery(transport);
  }

  /** Any request of the API, for what has no method here; errors, retries and the credential are those of every call. */
  request({ method = 'GET', path, body }: ApiRequest, options?: CallOptions): Call<Response> {
    if (!/^\/(?!\/)/.test(path)) throw new TypeError(`The path must begin with one /, not "${path}".`);
    return this.#transport.download({ method, path, body, isOnce: method === 'POST' }, options);
  }

  /** What an OpenAI client needs to go through this gateway: `new OpenAI(tallygate.openai())`. */
  openai(): { baseURL: string; apiKey: string } {
    return openaiAddress(this.baseUrl, this.#credential);
  }
}

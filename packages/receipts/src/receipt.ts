/** The wire forms of a receipt and of the keys that sign it. A test holds them equal to the contract of the API. */

/**
 * What was consumed, by meter. Cached, cache-write, audio and image tokens are disjoint parts of the input, cached audio and
 * image tokens parts of the audio and image tokens in; reasoning, image and audio tokens are parts of the output. What tools of the provider used is beside both. The counts that only some requests have are absent when zero.
 */
export interface ReceiptUsage {
  input_tokens: number;
  cached_input_tokens: number;
  cache_write_tokens: number;
  output_tokens: number;
  reasoning_tokens: number;
  /** Written to the provider's cache for an hour. */
  cache_write_1h_tokens?: number | undefined;
  audio_input_tokens?: number | undefined;
  cached_audio_input_tokens?: number | undefined;
  image_input_tokens?: number | undefined;
  cached_image_input_tokens?: number | undefined;
  image_output_tokens?: number | undefined;
  /** Of text to be spoken. */
  input_characters?: number | undefined;
  /** Whole seconds, rounded up. */
  audio_seconds?: number | undefined;
  /** Whole seconds, rounded up. */
  video_seconds?: number | undefined;
  /** Images made: counted, and priced by their tokens. */
  images?: number | undefined;
  audio_output_tokens?: number | undefined;
  /** Searches of the web by the provider. */
  web_searches?: number | undefined;
  /** The same by its older tool. */
  web_search_previews?: number | undefined;
  /** Searches of stored files by the provider. */
  file_searches?: number | undefined;
  /** Memory of the containers that the provider ran, gigabytes: of each, for every session of twenty minutes. */
  container_gigabytes?: number | undefined;
  /** What the provider's own image model took and gave. */
  image_tool_text_input_tokens?: number | undefined;
  image_tool_image_input_tokens?: number | undefined;
  image_tool_text_output_tokens?: number | undefined;
  image_tool_image_output_tokens?: number | undefined;
  /** Searches of a rerank model: a query with up to a hundred documents each. */
  search_units?: number | undefined;
}

/** The caller's own signature of the request (RFC 9421), by a key they registered on their API key. See `VerifyOptions.requestComponents`. */
export interface ClientSignature {
  alg: 'ed25519';
  /** 32 bytes, base64url. */
  public_key: string;
  /** What was covered, with parameters: the value of `@signature-params`. */
  signature_input: string;
  /** 64 bytes, base64url. */
  signature: string;
  /** The `Content-Digest` of the request as it was sent. Its sha-256 is `request_sha256`. */
  content_digest: string;
}

/** What a plan's quota counts. */
export type QuotaMeter = 'requests' | 'tokens' | 'images' | 'audio_seconds' | 'video_seconds';

/** Who paid for it. See `checkPayment`. */
export interface ReceiptPayment {
  /** The version of the plan that decided, such as `pro@1`; null in test mode. */
  plan: string | null;
  /** What pays beyond the plan's quota. `none`: nothing may go beyond it. `test`: nobody pays. */
  funding: 'balance' | 'invoice' | 'none' | 'test';
  /** Units that the quota covered, by meter; those of which it covered none are absent. */
  covered: { [Meter in QuotaMeter]?: number | undefined };
  /** Nano-USD that the balance or the invoice pays: the cost of what the quota did not cover. Of a refund: what of it they are given back. */
  charged_nano_usd: string;
}

/** What is digested and signed. Every number is an integer, every amount of money a string of digits. */
export interface ReceiptPayload {
  version: 'tallygate-receipt/v1';
  /**
   * What was settled: an answered request, a line of a batch, a media job. `refund`: money given back. `correction`: takes the place of an
   * earlier receipt.
   */
  kind: 'usage' | 'batch_line' | 'media_job' | 'refund' | 'correction';
  receipt_id: string;
  /** 16 random bytes, hex: they make the digest unguessable and salt the hashes of names below. */
  nonce: string;
  request_id: string;
  /** See `accountHash`. */
  account_hash: string;
  /** See `keyHash`; null where a session paid instead of an API key. */
  key_hash: string | null;
  /** See `projectHash`; absent where the request belongs to no project. */
  project_hash?: string | undefined;
  /** See `endUserHash`; absent where the request named no end user. */
  end_user_hash?: string | undefined;
  /** See `tagHash`: of each tag, sorted; absent where the request had none. */
  tag_hashes?: string[] | undefined;
  livemode: boolean;
  /** The number of the receipt among those of its account, mode and month (UTC, of `started_at`): 1, 2, 3, …, without a gap. */
  account_sequence: number;
  endpoint: string;
  /** The agent run as the caller named it, or null. */
  run_id: string | null;
  model_requested: string;
  /** The model that answered: its prices are the ones applied. */
  model_served: string;
  provider: string;
  fallback: 'none' | 'deployment' | 'model';
  /**
   * `cancelled`: the client hung up, or the agent run ended. `abandoned`: the gateway stopped, or gave up waiting, while the provider was at
   * work. `cut`: the provider broke off after the first byte. `failed`: no answer, nothing charged. `cached`: the answer is
   * one that was kept, and no model was run: nothing was used or charged. `refunded`: of a refund, and of nothing else.
   */
  outcome: 'completed' | 'cancelled' | 'abandoned' | 'cut' | 'failed' | 'cached' | 'refunded';
  /** SHA-256 of the request body as received, hex. */
  request_sha256: string;
  /** SHA-256 of the response body as sent, hex; of a stream, up to its last settled event. */
  response_sha256: string;
  usage: ReceiptUsage;
  /** The provider reported no usage: the counts are the gateway's, or the most that the request could use. */
  estimated: boolean;
  price_version: string;
  /** The price's own entry in the log, which was made before it was charged; null where nothing has a price. */
  price_entry: PriceEntry | null;
  /** The long-context tier that was applied, named by its threshold, or null. */
  price_tier_above_input_tokens: number | null;
  /** Pico-USD (10⁻¹²) per single unit, by meter. */
  unit_prices_pico_usd: Record<string, string>;
  /** On all unit prices: "1", or the published batch factor. */
  price_factor: string;
  /** Nano-USD (10⁻⁹). See `recomputeCost`; of a refund it is what is given back, and at most that. */
  cost_nano_usd: string;
  payment: ReceiptPayment;
  /**
   * Nano-USD: what was not charged: what the provider billed beyond what was held, and what no longer fitted a cap when the request was settled
   * late. Together with the cost it is what `recomputeCost` says. Absent where nothing was waived.
   */
  waived_nano_usd?: string | undefined;
  /** The receipt whose cost is given back, or that is corrected; null otherwise. */
  refund_of: string | null;
  /** Why; null where `refund_of` is. */
  refund_reason: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  started_at: string;
  /** RFC 3339, UTC, with milliseconds. */
  completed_at: string;
  /** The caller's own signature, verified when the request was admitted; null where the request carried none. */
  client_signature: ClientSignature | null;
}

/** Which entry of the log declares the price. */
export interface PriceEntry {
  /** Position of the entry, from 0: before that of every receipt that is charged at it. */
  index: number;
  /** See `declarationDigest`; hex. */
  digest: string;
}

/** A receipt as `GET /v1/receipts/{id}` answers it. Only the payload is signed. */
export interface ReceiptResponse {
  object: 'receipt';
  id: string;
  payload: ReceiptPayload;
  /** The receipt's entry in the log: see `receiptDigest`; hex. */
  digest: string;
  /**
   * JWS (RFC 7515, appendix F; RFC 8037) in compact form over the canonical JSON of the payload, which is left out of it. Made when the receipt is
   * read, by the key that is in force then.
   */
  jws: string;
  log: ReceiptLog;
  /**
   * What the price's entry says, with the proof that it stands in the state of the log that `log` names; null while the receipt is not in the log,
   * where it has no price, and in an export where an earlier receipt has the same.
   */
  price: LoggedPrice | null;
  /** The one that is furthest along; null where the service anchors nowhere. */
  anchor: ReceiptAnchor | null;
}

/** A price as it stands in the log. */
export interface LoggedPrice {
  declaration: PriceDeclaration;
  /** Hashes from the leaf upwards (RFC 9162, section 2.1.3), base64: from the index that the receipt names, to the state of its own proof. */
  inclusion_path: string[];
}

interface Declared {
  version: 'tallygate-declaration/v1';
  /** Among those of its kind, from 1. */
  number: number;
  /** Digest of the one of its kind before it, hex; null of the first. See `chainFault`. */
  previous: string | null;
  /** RFC 3339, UTC, with milliseconds. */
  declared_at: string;
}

/** What a model costs in one version. An entry of the log, made before the price is charged. */
export interface PriceDeclaration extends Declared {
  kind: 'price';
  model: string;
  price_version: string;
  effective_from: string;
  /** Pico-USD (10⁻¹²) per single unit, by meter. */
  unit_prices_pico_usd: Record<string, string>;
  tiers: { above_input_tokens: number; unit_prices_pico_usd: Record<string, string> }[];
  batch_factor: string;
}

/** A key that signs from now on. An entry of the log, made before the key signs. */
export interface KeyDeclaration extends Declared {
  kind: 'key';
  purpose: KeyPurpose;
  kid: string;
  /** 32 bytes, base64url. */
  x: string;
  not_before: string;
  /** By the key before it: a detached JWS over the declaration with null in this place. Null of the first, and where the one before was lost. */
  signed_by: { kid: string; jws: string } | null;
}

/** A key that signs no more. */
export interface KeyRetiredDeclaration extends Declared {
  kind: 'key_retired';
  purpose: KeyPurpose;
  kid: string;
  not_after: string;
}

/** By which rules the log is kept. */
export interface LogPolicyDeclaration extends Declared {
  kind: 'policy';
  /** Its name. */
  log: string;
  receipt_version: string;
  /** How soon a receipt stands in the log, seconds after its answer has ended. */
  logged_within_s: number;
  /** Whose cosignatures a verifier demands, and how many, in one line: `2 of KEY KEY KEY`. Null where there are no witnesses. */
  witness_policy: string | null;
  anchors: { chain_id: number; contract: string }[];
}

/** An entry of the log that is no receipt. */
export type Declaration = PriceDeclaration | KeyDeclaration | KeyRetiredDeclaration | LogPolicyDeclaration;

/** A declaration that has no place among those of its kind yet. */
export type Undeclared<D extends Declaration = Declaration> = D extends Declaration ? Omit<D, 'number' | 'previous'> : never;

/** What a key signs: receipts, states of the log, or promises of receipts. No key does two of these. */
export type KeyPurpose = 'receipt' | 'checkpoint' | 'promise';

/** Where on a public chain the receipt can be found; `pending` until a state of the log that holds it has been sent there. */
export type ReceiptAnchor =
  | { state: 'pending' }
  | {
      state: 'submitted' | 'included' | 'finalized';
      id: string;
      /** EIP-155. */
      chain_id: number;
      /** Address, 0x and 40 hex digits. */
      contract: string;
      /** Entries of the log in the state that the contract holds. */
      tree_size: number;
      /** Of that state, 0x and hex. */
      root: string;
      transaction_hash: string | null;
      block_number: number | null;
      /** RFC 3339, UTC. */
      block_time: string | null;
      /** Position of the entry, from 0. */
      index: number;
      /** Hashes from the leaf upwards (RFC 9162, section 2.1.3), 0x and hex. */
      path: string[];
    };

/** Where the receipt stands in the log, with the proof of it; `pending` for the seconds until it does. */
export type ReceiptLog =
  | { state: 'pending' }
  | {
      state: 'logged';
      /** Position of the entry, from 0. */
      index: number;
      /** Entries of the log in the state that the proof is against. */
      tree_size: number;
      /** Hashes from the leaf upwards (RFC 9162, section 2.1.3), base64. */
      inclusion_path: string[];
      /** That state as the log signed it, and witnesses with it: a signed note (c2sp.org/tlog-checkpoint). */
      checkpoint: string;
    };

/** A public key (RFC 8037) that signs receipts, and the time in which it did. */
export interface VaasKey extends PublishedKey {
  purpose: 'receipt';
}

/** A public key that signs the states of the log of receipts. */
export interface VaasLogKey extends PublishedKey {
  purpose: 'checkpoint';
  /** As signed notes know it: name of the log, id and bytes of the key. */
  verifier_key: string;
}

/** A public key that signs promises of receipts. */
export interface VaasPromiseKey extends PublishedKey {
  purpose: 'promise';
}

interface PublishedKey {
  kty: 'OKP';
  crv: 'Ed25519';
  /** 32 bytes, base64url. */
  x: string;
  /** RFC 7638 thumbprint of the key. */
  kid: string;
  use: 'sig';
  alg: 'EdDSA';
  /** RFC 3339, UTC, with milliseconds. */
  not_before: string;
  /** Set once the key is retired. */
  not_after: string | null;
}

/** `/.well-known/vaas-keys.json`: a JSON Web Key Set (RFC 7517), retired keys included. */
export interface VaasKeySet {
  keys: (VaasKey | VaasLogKey | VaasPromiseKey)[];
}

/** Why a receipt is not accepted; one code per cause. */
export type RefusalCode =
  /** The text is not JSON (RFC 8259), or not I-JSON (RFC 7493): lone surrogates, absurd nesting. */
  | 'malformed_json'
  /** An object of the text has two members of one name: readers would differ on which one counts. */
  | 'duplicate_member'
  /** A number of the text is not a plain integer within ±(2^53 − 1). */
  | 'bad_number'
  /** A field is missing or has the wrong form. */
  | 'malformed'
  /** The payload holds a field that this version does not know. */
  | 'unknown_field'
  | 'unknown_version'
  | 'unknown_kind'
  | 'unknown_algorithm'
  /** The id beside the payload is not the one inside it. */
  | 'id_mismatch'
  /** The digest is not the digest of this payload. */
  | 'bad_digest'
  /** The key set itself, or the key in it that the receipt names, has the wrong form. */
  | 'malformed_keys'
  /** No receipt key of the set has the `kid` of the signature. */
  | 'unknown_key'
  /** The `kid` of the key is not its thumbprint. */
  | 'kid_mismatch'
  /** The public key is a point of small order or not canonically encoded: anybody could sign for it. */
  | 'weak_key'
  /** The signature is a valid one in a second spelling (S ≥ L). */
  | 'malleable_signature'
  | 'bad_signature'
  /** The caller's own signature is none of this request, or was made with a key that anybody could sign for. */
  | 'bad_client_signature'
  /** The caller signed the digest of another body. */
  | 'client_signature_mismatch'
  /** The request completed after the key was retired. */
  | 'key_retired'
  /** The request completed before it began. */
  | 'completed_before_started'
  /** A witness, or the block of the anchor, is of more than five minutes before the request completed. */
  | 'seen_before_completed'
  /** A part is larger than its whole: cached or audio tokens than the input, reasoning or image tokens than the output. */
  | 'usage_inconsistent'
  /** The long-context tier does not go with the number of input tokens. */
  | 'tier_mismatch'
  /** `outcome` is `cached`, yet usage or cost is not zero. */
  | 'charged_cached'
  /** `outcome` is `failed`, yet usage or cost is not zero. */
  | 'charged_failure'
  /** The factor on the prices is not the published one, or a request outside a batch has one. */
  | 'factor_mismatch'
  /** A refund that names no receipt or no reason, or what is no refund and does; a receipt that is its own refund. */
  | 'refund_inconsistent'
  /** More is given back than the request cost. */
  | 'refund_exceeds_cost'
  /** Units were charged for which the receipt states no price. */
  | 'price_missing'
  /** The cost is not the one that follows from usage and prices. */
  | 'cost_mismatch'
  /** What was charged, or what the plan's quota covered, does not follow from cost and usage. */
  | 'payment_mismatch'
  /** The published prices do not have this model in this price version. */
  | 'price_unpublished'
  /** The published price has this version, of another time than the request's. */
  | 'price_not_in_force'
  /** A unit price is not the published one. */
  | 'price_mismatch'
  /** A receipt that is not free names no entry of the log that has its price. */
  | 'price_undeclared'
  /** The price's entry stands in the log after the receipt. */
  | 'price_logged_after'
  /** The declaration beside the receipt is another one than the receipt names, or of another model or version. */
  | 'price_entry_mismatch'
  /** The proof does not lead from the price's declaration to the root of the checkpoint. */
  | 'price_not_in_log'
  /** A promise has the wrong form. */
  | 'malformed_promise'
  /** The promise is of another answer, request or receipt than was given. */
  | 'promise_mismatch'
  /** What declares a price, a key or a policy has the wrong form. */
  | 'malformed_declaration'
  /** A declaration is left out of the list: its number is missing, or the list ends before one that was shown before, or than it says. */
  | 'declaration_missing'
  /** A declaration does not follow the one before it in the list, or is another one than was shown before. */
  | 'declaration_forked'
  /** The newest declaration of the list is not proven by a state that the log has signed. */
  | 'declaration_not_in_log'
  /** `log` has the wrong form, or its checkpoint is none. */
  | 'malformed_log'
  /** The checkpoint is of another size than the proof says. */
  | 'log_size_mismatch'
  /** No key of the log at hand has signed the checkpoint. */
  | 'unknown_log_key'
  /** A signature of a known key under the checkpoint does not hold. */
  | 'bad_checkpoint_signature'
  /** The checkpoint holds a receipt of later than the retirement of every key that signed it. */
  | 'log_key_retired'
  /** The proof does not lead from the receipt to the root of the checkpoint. */
  | 'not_in_log'
  /** The figures of an invoice do not agree with each other. */
  | 'invoice_inconsistent'
  /** An invoice of another account than the one that was named. */
  | 'foreign_invoice'
  /** It was demanded that the receipt is shown to stand in the log. */
  | 'not_logged'
  /** Fewer of the named witnesses than demanded have cosigned the checkpoint. */
  | 'too_few_witnesses'
  /** `anchor` has the wrong form. */
  | 'malformed_anchor'
  /** The path does not lead from the receipt to the root that the anchor names. */
  | 'not_in_anchor'
  /** The anchor is of another state of the log than the log's own proof. */
  | 'anchor_of_another_log';

/** Ends the verification of a receipt from any depth of it. The verifying functions catch it and return it as a value. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly code: RefusalCode;

  constructor(code: RefusalCode, reason: string) {
    super(reason);
    this.code = code;
  }
}

/** A refusal as a value. */
export interface Refusal {
  readonly valid: false;
  readonly code: RefusalCode;
  /** One sentence that names the field or the two values that differ. */
  readonly reason: string;
}

/** What `check` returns, or why it refused. Anything else that is thrown is a bug and passes through. */
export function refusalAsValue<T>(check: () => T): T | Refusal {
  try {
    return check();
  } catch (error) {
    if (error instanceof Refused) return { valid: false, code: error.code, reason: error.message };
    throw error;
  }
}

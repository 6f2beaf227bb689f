import type { ConfirmedAnchor } from './anchor/confirm-anchor.ts';
import type { Checks } from './checks.ts';
import type { LoggedReceipt } from './log/receipt-log.ts';
import type { ReceiptPayload } from './receipt.ts';

/** What a receipt that holds shows, and what it does not, in sentences for whoever has to rely on it. */
export interface Statement {
  readonly proves: readonly string[];
  readonly does_not_prove: readonly string[];
}

const SIGNED = 'The service signed this receipt, and cannot take it back: it billed this usage at these unit prices for these two bodies.';
const GIVEN_BACK =
  'The service signed this receipt, and cannot take it back: of what it billed for this usage in the receipt that is named, it gave back this much.';
const CORRECTED =
  'The service signed this receipt, and cannot take it back: it billed this usage at these unit prices, in the place of the receipt that is named.';
const AT_MOST = 'What was given back is at most the usage times the unit prices and the factor.';
const COST = 'The cost is the usage times the unit prices and the factor, rounded up once.';
const PRICES = 'The unit prices are those of the published list that was given.';
const PRICE_ENTRY = 'The unit prices stand in the log, in an entry before this receipt: they were not dated back.';
const CLIENT = 'The caller signed this very request.';

const PROVIDER = 'That the named model made the answer, or that the provider counted right: that is the service’s word.';
const TIMES = 'When the request was made: the times in it are the service’s word.';
const WHOLE = 'That there is no other receipt of the same account.';
const TEST_MODE = 'That anybody paid: the request was made in test mode.';
const NOT_COMPARED = 'That the unit prices are the published ones: no published prices were given.';
const PRICE_ENTRY_UNCHECKED = 'That the unit prices were declared in the log before they were charged: their entry was not shown.';
const UNSIGNED = 'That the caller made this request: they did not sign it.';
const CLIENT_UNCHECKED = 'That the caller signed this request: their signature covers parts of it that were not given.';
const NOT_LOGGED =
  'That it stands in the log: it carries no proof of that. Fetched again some seconds after its request, it does; one that never does may have been made, and dated back, by whoever has stolen a key.';
const LOG_UNCHECKED = 'That it stands in the log: no key of the log was at hand to check its proof.';
const ONE_VIEW = 'That the log shows everybody the same: no witness that was named has cosigned the state of the log.';
const oneWitness = (name: string): string =>
  `That the log shows everybody the same: ${name} cosigns one history, and nobody else has cosigned that it is the one others are shown.`;
const ANCHOR_UNCONFIRMED =
  'That the state of the log was on a public chain: the receipt is in the state that its anchor names, and the chain was not asked for it.';
const NOT_ANCHORED = 'That the state of the log was on a public chain: it carries no anchor.';
const ANCHOR_UNCHECKED = 'That the state of the log was on a public chain: its anchor was not checked.';

/** In the order in which the checks build on each other. */
export function statementOf(
  checks: Checks,
  { kind, livemode }: Pick<ReceiptPayload, 'kind' | 'livemode'>,
  logged: LoggedReceipt | undefined,
): Statement {
  const isIf = (holds: boolean, ...sentences: readonly string[]): readonly string[] => (holds ? sentences : []);
  return {
    proves: [
      kind === 'refund' ? GIVEN_BACK : kind === 'correction' ? CORRECTED : SIGNED,
      kind === 'refund' ? AT_MOST : COST,
      ...isIf(checks.prices === 'ok', PRICES),
      ...isIf(checks.price_entry === 'ok', PRICE_ENTRY),
      ...isIf(checks.client_signature === 'ok', CLIENT),
      ...(logged ? loggedSentences(logged) : []),
    ],
    does_not_prove: [
      PROVIDER,
      TIMES,
      WHOLE,
      ...isIf(!livemode, TEST_MODE),
      ...isIf(checks.prices !== 'ok', NOT_COMPARED),
      ...isIf(checks.price_entry === 'unchecked', PRICE_ENTRY_UNCHECKED),
      ...isIf(checks.client_signature === undefined, UNSIGNED),
      ...isIf(checks.client_signature === 'unchecked', CLIENT_UNCHECKED),
      ...isIf(checks.log === 'pending', NOT_LOGGED),
      ...isIf(checks.log === 'unchecked', LOG_UNCHECKED),
      ...isIf(logged?.witnesses.length === 0, ONE_VIEW),
      ...(logged?.witnesses.length === 1 ? logged.witnesses.map(({ name }) => oneWitness(name)) : []),
      ...isIf(checks.anchor === 'pending', NOT_ANCHORED),
      ...isIf(checks.anchor === 'unchecked', ANCHOR_UNCHECKED),
      ...isIf(checks.anchor === 'unconfirmed', ANCHOR_UNCONFIRMED),
    ],
  };
}

const loggedSentences = ({ origin, index, tree_size: size, witnesses }: LoggedReceipt): string[] => [
  `It is entry ${index} of the log ${origin}, in a state of ${size} entries that the log signed: whoever keeps that state notices if the entry is ever changed or left out.`,
  ...witnesses.map(({ name, time }) => `${name} saw that state of the log at ${time}, so the receipt existed then.`),
];

/** The same once a node of the chain has confirmed the anchor. */
export function statementOnChain(
  { proves, does_not_prove }: Statement,
  { chain_id, contract, time, finality }: ConfirmedAnchor,
): Statement {
  const settled = finality === 'latest' ? 'in a block that the chain may still take back' : `in a block that is ${finality}`;
  const held = `The contract ${contract} on chain ${chain_id} holds a state of the log with this receipt since ${time}, ${settled}, as the node says that was asked.`;
  return { proves: [...proves, held], does_not_prove: does_not_prove.filter((sentence) => sentence !== ANCHOR_UNCONFIRMED) };
}

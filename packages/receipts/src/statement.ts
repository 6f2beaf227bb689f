import type { LoggedReceipt } from './log/receipt-log.ts';
import type { Checks } from './verify.ts';

/** What a receipt that holds shows, and what it does not, in sentences for whoever has to rely on it. */
export interface Statement {
  readonly proves: readonly string[];
  readonly does_not_prove: readonly string[];
}

const SIGNED = 'The service signed this receipt, and cannot take it back: it billed this usage at these unit prices for these two bodies.';
const COST = 'The cost is the usage times the unit prices and the factor, rounded up once.';
const PRICES = 'The unit prices are those of the published list that was given.';
const CLIENT = 'The caller signed this very request.';

const PROVIDER = 'That the named model made the answer, or that the provider counted right: that is the service’s word.';
const TIMES = 'When the request was made: the times in it are the service’s word.';
const WHOLE = 'That there is no other receipt of the same account.';
const NOT_LOGGED = 'That it stands in the log: it carries no proof of that yet. Fetched again some seconds after its request, it does.';
const LOG_UNCHECKED = 'That it stands in the log: no key of the log was at hand to check its proof.';
const ONE_VIEW = 'That the log shows everybody the same: no witness that was named has cosigned the state of the log.';
const ANCHOR_UNCONFIRMED =
  'That the state of the log was on a public chain: the receipt is in the state that its anchor names, and the chain was not asked for it.';
const NOT_ANCHORED = 'That the state of the log was on a public chain: it carries no anchor yet.';
const ANCHOR_UNCHECKED = 'That the state of the log was on a public chain: its anchor was not checked.';

/** In the order in which the checks build on each other. */
export function statementOf(checks: Checks, logged: LoggedReceipt | undefined): Statement {
  const isIf = (holds: boolean, ...sentences: readonly string[]): readonly string[] => (holds ? sentences : []);
  return {
    proves: [
      SIGNED,
      COST,
      ...isIf(checks.prices === 'ok', PRICES),
      ...isIf(checks.client_signature === 'ok', CLIENT),
      ...(logged ? loggedSentences(logged) : []),
    ],
    does_not_prove: [
      PROVIDER,
      TIMES,
      WHOLE,
      ...isIf(checks.log === 'pending', NOT_LOGGED),
      ...isIf(checks.log === 'unchecked', LOG_UNCHECKED),
      ...isIf(logged?.witnesses.length === 0, ONE_VIEW),
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

import { toHex } from '../src/encoding.ts';
import { declarationDigest } from '../src/log/declaration.ts';
import type { DeclarationKind } from '../src/log/declaration-chain.ts';
import type { ProvenEntry } from '../src/log/logged-declarations.ts';
import type { LogPolicyDeclaration } from '../src/receipt.ts';
import type { RefusalCode } from '../src/refusal.ts';
import { policyWith } from './policy-log.ts';
import { logOf } from './succession-vectors.ts';
import { stranger } from './vector-receipts.ts';

/** A list of declarations of one kind beside the newest that was kept of it, and what is wrong with it. */
export interface DeclarationVector {
  readonly why: string;
  readonly kind: DeclarationKind;
  readonly kept: ProvenEntry | null;
  readonly pages: readonly Page[];
  /** Null where the list is in order. */
  readonly expected_code: RefusalCode | null;
}

interface Page {
  readonly checkpoint: string;
  readonly declared: Record<DeclarationKind, number>;
  readonly data: readonly ProvenEntry[];
}

/** Each names the one before it. */
function chainOf(...policies: readonly LogPolicyDeclaration[]): LogPolicyDeclaration[] {
  let before: LogPolicyDeclaration | undefined;
  return policies.map((policy, at) => {
    before = { ...policy, number: at + 1, previous: before ? toHex(declarationDigest(before)) : null };
    return before;
  });
}

const [one, two, three, other] = [10, 20, 30, 40].map((logged_within_s) => ({ ...policyWith(null), logged_within_s })) as [
  ...[LogPolicyDeclaration, LogPolicyDeclaration, LogPolicyDeclaration, LogPolicyDeclaration],
];
const page = (...given: Parameters<typeof logOf>): Page => logOf(...given) as Page;
const chain = chainOf(one, two, three);
const whole = page(chain);
const short = page(chainOf(one, two));
const keptOf = ({ checkpoint, data }: Page): ProvenEntry | null => {
  const newest = data.at(-1);
  return newest ? { ...newest, checkpoint } : null;
};
const leavingOut = (at: number): Page => ({ ...whole, data: whole.data.filter((_, place) => place !== at) });

const made = (why: string, expected_code: RefusalCode | null, given: Partial<DeclarationVector> = {}): DeclarationVector => ({
  ...{ why, kind: 'policy', kept: null, pages: [whole] },
  ...given,
  expected_code,
});

export const declarationVectors = {
  'in-order': made('Each names the one before it.', null),
  'on-two-pages': made('The second page is of a later state of the log.', null, {
    pages: [
      { ...short, data: short.data.slice(0, 1) },
      { ...whole, data: whole.data.slice(1) },
    ],
  }),
  'grown-since-kept': made('A third was added since the second was kept.', null, { kept: keptOf(short) }),
  'none-of-its-kind': made('The log has retired no key.', null, { kind: 'key_retired' }),
  'left-out-between': made('The second is left out.', 'declaration_missing', { pages: [leavingOut(1)] }),
  'first-left-out': made('The first is left out.', 'declaration_missing', { pages: [leavingOut(0)] }),
  'ends-before-its-count': made('The third is left out, and counted.', 'declaration_missing', { pages: [leavingOut(2)] }),
  'ends-before-kept': made('The third was kept, and the log shows two.', 'declaration_missing', { kept: keptOf(whole), pages: [short] }),
  'none-where-one-was-kept': made('One was kept, and the log shows none.', 'declaration_missing', {
    kept: keptOf(whole),
    pages: [{ ...whole, declared: { ...whole.declared, policy: 0 }, data: [] }],
  }),
  'another-second': made('The second is another one than the third names.', 'declaration_forked', {
    pages: [page([...chainOf(one, other), ...chain.slice(2)])],
  }),
  'follows-nothing': made('The first names one before it.', 'declaration_forked', {
    pages: [page([{ ...one, previous: toHex(declarationDigest(two)) }])],
  }),
  'another-chain-than-kept': made('The second was kept, and the log shows another second.', 'declaration_forked', {
    kept: keptOf(short),
    pages: [page(chainOf(one, other, three))],
  }),
  'in-another-order-of-the-log': made('The second is in the log before the first.', 'declaration_forked', {
    pages: [{ ...whole, data: whole.data.map((entry, at) => ({ ...entry, index: at === 1 ? 0 : entry.index })) }],
  }),
  'signed-by-a-stranger': made('A stranger has signed the state of the log.', 'declaration_not_in_log', {
    pages: [page(chain, [stranger])],
  }),
  'newest-not-proven': made('The path of the third does not lead to the root.', 'declaration_not_in_log', {
    pages: [{ ...whole, data: whole.data.map((entry, at) => (at === 2 ? { ...entry, inclusion_path: [] } : entry)) }],
  }),
  'without-counts': made('The list does not say how many there are.', 'malformed_declaration', {
    pages: [{ checkpoint: whole.checkpoint, data: whole.data } as unknown as Page],
  }),
} satisfies Record<string, DeclarationVector>;

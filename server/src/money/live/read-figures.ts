import type { KeyBudgetSummaryResponse, LiveFigures, ReceiptListItem, Run } from '@tallygate/contract';
import type { Principal, Seen, SeenBy } from '../../http/index.ts';
import { Problem } from '../../kernel/problem.ts';

/** How many of each are told; of more there are lists. */
const MOST = 20;
const MODES = [true, false] as const;

interface Scope {
  readonly accountId: string;
  readonly livemode: boolean;
  readonly seen: Seen | undefined;
}

interface FiguresDeps {
  readonly budgets: (principal: Principal) => Promise<KeyBudgetSummaryResponse>;
  readonly seenBy: SeenBy;
  readonly runs: (scope: Scope, limit: number) => Promise<readonly Run[]>;
  /** @throws Problem `plan_required` where the plan of the account has no receipts */
  readonly requests: (scope: Scope, limit: number) => Promise<readonly ReceiptListItem[]>;
}

/** Reads what an account spends now. */
export type ReadFigures = {
  /** From the lanes: it is asked for every second. */
  budgets(principal: Principal): Promise<KeyBudgetSummaryResponse>;
  /** From the ledger. */
  settled(principal: Principal): Promise<Required<Pick<LiveFigures, 'runs' | 'requests'>>>;
};

export const readFigures = ({ budgets, seenBy, runs, requests }: FiguresDeps): ReadFigures => ({
  budgets,
  async settled(principal) {
    const { accountId } = principal;
    const seen = await seenBy(principal);
    const [runsByMode, requestsByMode] = await Promise.all([
      Promise.all(MODES.map((livemode) => runs({ accountId, livemode, seen }, MOST))),
      Promise.all(MODES.map((livemode) => requests({ accountId, livemode, seen }, MOST).catch(noneWithoutPlan))),
    ]);
    const newest = <T extends { readonly started_at: string }>(lists: readonly (readonly T[])[]): T[] =>
      lists.flat().toSorted((a, b) => (a.started_at < b.started_at ? 1 : -1));
    return { runs: newest(runsByMode), requests: newest(requestsByMode) };
  },
});

function noneWithoutPlan(thrown: unknown): readonly ReceiptListItem[] {
  if (thrown instanceof Problem && thrown.code === 'plan_required') return [];
  throw thrown;
}

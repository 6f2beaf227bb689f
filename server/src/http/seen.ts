import type { Principal } from './principal.ts';

/** Whose requests, runs, receipts and usage somebody sees who does not see all of the account: their own, and those of their projects. */
export interface Seen {
  readonly userId: string;
  readonly projects: readonly string[];
}

/** Undefined: all of the account. */
export type SeenBy = (caller: Principal) => Promise<Seen | undefined>;

/**
 * SQL: whether a row with the columns `project_id` and `user_id` is among them.
 * @param value places a value in the statement, and names it
 */
export const isSeenIn = ({ userId, projects }: Seen, value: (given: unknown) => string): string =>
  `(user_id = ${value(userId)}::uuid or project_id = any(${value([...projects])}::uuid[]))`;

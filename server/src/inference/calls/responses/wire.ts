import type { ResponseItem } from '@tallygate/contract';
import { Problem } from '../../../kernel/problem.ts';
import { isLive } from '../call.ts';
import type { Caller } from '../call-context.ts';
import { isRecord } from '../usage.ts';
import type { Json, Owner } from './stored-responses.ts';

export const ownerOf = ({ principal }: { readonly principal: Caller['principal'] }): Owner => ({
  accountId: principal.accountId,
  livemode: isLive(principal),
});

export const unixSeconds = (at: Date): number => Math.floor(at.getTime() / 1000);

/** OpenAI's page: its ends are texts also where it is empty. */
export function pageOf<T extends { readonly id?: string | null | undefined }>(data: readonly T[], has_more: boolean) {
  return { object: 'list' as const, data: [...data], first_id: data.at(0)?.id ?? '', last_id: data.at(-1)?.id ?? '', has_more };
}

/** What a page is to go on from is not in the list. */
export const noSuchCursor = (): Problem => new Problem('not_found', 'There is nothing of that id to go on from.', { param: 'after' });

export interface CursorQuery {
  readonly after?: string | undefined;
  readonly limit: number;
  readonly order: 'asc' | 'desc';
}

/** A page of a list that is here already, oldest first. @throws Problem `not_found` for a cursor that is not in it */
export function pageWithin<T extends { readonly id?: string | null | undefined }>(all: readonly T[], { after, limit, order }: CursorQuery) {
  const ordered = order === 'asc' ? all : all.toReversed();
  const at = after === undefined ? 0 : ordered.findIndex(({ id }) => id === after) + 1;
  if (after !== undefined && at === 0) throw noSuchCursor();
  const rest = ordered.slice(at);
  return pageOf(rest.slice(0, limit), rest.length > limit);
}

export const ENCRYPTED_REASONING = 'reasoning.encrypted_content' as const;

/** What the query asks to be shown, in either spelling. */
export const includedIn = (query: Readonly<Record<string, unknown>>): ReadonlySet<string> =>
  new Set([query['include'], query['include[]']].flat().filter((value) => typeof value === 'string'));

/** What a model thought goes to its provider in every turn, and to the caller only on request. */
export const withoutEncrypted = <T extends ResponseItem | Json>(item: T): T => {
  if (item['type'] !== 'reasoning' || !('encrypted_content' in item)) return item;
  const { encrypted_content: _, ...shown } = item;
  return shown as T;
};

/** A response with its reasoning as far as it is to be shown. */
export const shownResponse = (response: Json, showsEncrypted: boolean): Json =>
  showsEncrypted || !Array.isArray(response['output'])
    ? response
    : { ...response, output: response['output'].map((item: unknown) => (isRecord(item) ? withoutEncrypted(item) : item)) };

/** What the address of a page says beside its path: only texts, and those that are empty are left out. */
type Texts<Name extends string> = { readonly [name in Name]?: string | undefined };

const textsOf =
  <const Name extends string>(names: readonly Name[]) =>
  (search: Record<string, unknown>): Texts<Name> =>
    Object.fromEntries(
      names.flatMap((name) => {
        const value = search[name];
        return typeof value === 'string' && value !== '' ? [[name, value]] : [];
      }),
    ) as Texts<Name>;

/** Texts and nothing else: a number of an end user, or a code of a directory, is no other for looking like a number. */
export const parseSearch = (search: string): Record<string, string> => Object.fromEntries(new URLSearchParams(search));

export function stringifySearch(search: Record<string, unknown>): string {
  const texts = Object.entries(search).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return texts.length === 0 ? '' : `?${new URLSearchParams(texts)}`;
}

export type Mode = 'live' | 'test';
/** Of all pages: whether live or test requests are shown. */
export const modeSearch = ({ mode }: Record<string, unknown>): { readonly mode?: Mode | undefined } => ({
  mode: mode === 'live' || mode === 'test' ? mode : undefined,
});

const REQUESTS = ['month', 'model', 'key_id', 'run_id', 'outcome', 'end_user', 'min_cost_usd', 'max_cost_usd', 'from', 'to'] as const;
/** Which requests are shown. */
export type RequestFilter = Texts<(typeof REQUESTS)[number]>;
export const requestFilter = textsOf(REQUESTS);

const AUDIT = ['action', 'actor_id', 'target_id', 'ip', 'from', 'to'] as const;
/** Which entries of the audit log are shown; of days, UTC. */
export type AuditFilter = Texts<(typeof AUDIT)[number]>;
export const auditSearch = textsOf(AUDIT);

/** Whose account is looked for. */
export const emailSearch = textsOf(['email']);

const PEOPLE = ['q', 'status', 'source', 'consent', 'event_slug'] as const;
/** Which people are shown. */
export type PeopleSearch = Texts<(typeof PEOPLE)[number]>;
export const peopleSearch = textsOf(PEOPLE);

const USAGE = ['by', 'and', 'from', 'to', 'last'] as const;
/** How usage is grouped, and of which days: `last` are so many until today, so that it can be kept. */
export type UsageSearch = Texts<(typeof USAGE)[number]>;
export const usageSearch = textsOf(USAGE);

/** Whether the dialog of a new key is open. */
export const keysSearch = textsOf(['create']);

/** Which of the lists of a page is shown. */
export const kindSearch = textsOf(['kind']);
export const statusSearch = textsOf(['status']);

/** Which models are shown; `all` are also those that nobody serves. */
export const modelsSearch = textsOf(['q', 'all']);

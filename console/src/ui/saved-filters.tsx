import { useState, useSyncExternalStore } from 'react';
import { useMe } from '../session.ts';
import { Dialog, Field, Form, given } from './dialog.tsx';

/** As the address of the page has it. */
type Search = Readonly<Record<string, string | undefined>>;

interface Saved {
  readonly name: string;
  readonly search: Search;
}

const listeners = new Set<() => void>();

/** One of the same name is replaced. */
const withOne = (all: readonly Saved[], one: Saved): readonly Saved[] =>
  [...all.filter(({ name }) => name !== one.name), one].toSorted((a, b) => a.name.localeCompare(b.name));

function read(place: string): readonly Saved[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(place) ?? '[]');
    return Array.isArray(kept) ? kept.filter((one) => typeof one?.name === 'string' && typeof one?.search === 'object') : [];
  } catch {
    return [];
  }
}

/**
 * Filters by name, in this browser: what is worth sharing is shared by the address. Those of several people who sign in here are kept apart.
 */
function useSaved(page: string): readonly [readonly Saved[], (saved: readonly Saved[]) => void] {
  const { user_id: id } = useMe();
  const place = `tallygate.console.filters.${page}.${id}`;
  const text = useSyncExternalStore(
    (onChange) => {
      listeners.add(onChange);
      return () => listeners.delete(onChange);
    },
    () => localStorage.getItem(place),
  );
  const keep = (saved: readonly Saved[]): void => {
    localStorage.setItem(place, JSON.stringify(saved));
    for (const listener of listeners) listener();
  };
  return [text === null ? [] : read(place), keep];
}

const sameAs = (a: Search): string =>
  JSON.stringify(
    Object.entries(a)
      .filter(([, value]) => value !== undefined)
      .toSorted(),
  );

interface SavedFiltersProps {
  /** Of which page. */
  readonly page: string;
  readonly search: Search;
  readonly onChoose: (search: Search) => void;
}

export function SavedFilters({ page, search, onChoose }: SavedFiltersProps) {
  const [saved, keep] = useSaved(page);
  const [isNaming, setNaming] = useState(false);
  const now = sameAs(search);
  const isWorthSaving = now !== '[]' && !saved.some((one) => sameAs(one.search) === now);
  const save = async (fields: FormData): Promise<void> => {
    keep(withOne(saved, { name: given(fields, 'name') ?? '', search }));
    setNaming(false);
  };
  if (saved.length === 0 && !isWorthSaving) return null;
  return (
    <section className="saved-filters" aria-label="Saved filters">
      {saved.map((one) => (
        <span key={one.name} className="saved-filter">
          <button type="button" aria-pressed={sameAs(one.search) === now} onClick={() => onChoose(one.search)}>
            {one.name}
          </button>
          <button type="button" aria-label={`Forget the filter ${one.name}`} onClick={() => keep(saved.filter((other) => other !== one))}>
            ×
          </button>
        </span>
      ))}
      {isWorthSaving && (
        <button type="button" className="link" onClick={() => setNaming(true)}>
          Save this filter
        </button>
      )}
      {isNaming && (
        <Dialog title="Save this filter" onClose={() => setNaming(false)}>
          <Form action="Save" onSubmit={save} onCancel={() => setNaming(false)}>
            <Field
              name="name"
              label="Name"
              isRequired
              autoComplete="off"
              hint="It is kept in this browser. To share it, send the address of the page."
            />
          </Form>
        </Dialog>
      )}
    </section>
  );
}

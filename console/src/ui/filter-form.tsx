import { type FormEvent, useId, useState } from 'react';
import { given } from './dialog.tsx';

export interface FilterField<Name extends string> {
  readonly name: Name;
  readonly label: string;
  /** Of the input; left out, text. */
  readonly type?: 'text' | 'search' | 'month' | 'date' | 'email';
  readonly placeholder?: string;
  /** What can be typed, among other things. */
  readonly suggestions?: readonly string[];
  /** Shown when it is asked for, or has a value. */
  readonly isMore?: true;
  /** In place of an input; the first is the one without a value. */
  readonly options?: readonly (readonly [value: string, label: string])[];
}

type Filter<Name extends string> = { readonly [name in Name]?: string | undefined };

interface FilterFormProps<Name extends string> {
  readonly fields: readonly FilterField<Name>[];
  readonly filter: Filter<Name>;
  readonly onSearch: (filter: Filter<Name>) => void;
}

function Input({ field, value }: { field: FilterField<string>; value: string | undefined }) {
  const { name, label, type = 'text', placeholder, options, suggestions } = field;
  const id = useId();
  return (
    <label htmlFor={id}>
      {label}{' '}
      {options ? (
        <select id={id} name={name} defaultValue={value ?? ''}>
          {options.map(([option, text]) => (
            <option key={option} value={option}>
              {text}
            </option>
          ))}
        </select>
      ) : (
        <input {...{ id, name, type, placeholder }} defaultValue={value} list={suggestions && `${id}-known`} autoComplete="off" />
      )}
      {suggestions && (
        <datalist id={`${id}-known`}>
          {suggestions.map((suggestion) => (
            <option key={suggestion} value={suggestion} />
          ))}
        </datalist>
      )}
    </label>
  );
}

/** What is looked for goes into the address, so that it can be kept and sent to somebody: this form shows what is there. */
export function FilterForm<Name extends string>({ fields, filter, onSearch }: FilterFormProps<Name>) {
  const [isMore, setMore] = useState(false);
  const isShown = (field: FilterField<Name>): boolean => isMore || field.isMore === undefined || filter[field.name] !== undefined;
  const search = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const form = new FormData(event.currentTarget);
    onSearch(Object.fromEntries(fields.map(({ name }) => [name, given(form, name)])) as Filter<Name>);
  };
  return (
    <search>
      <form className="filters" onSubmit={search} key={JSON.stringify(filter)}>
        {fields.filter(isShown).map((field) => (
          // Options that come later are chosen from anew; what was typed beside them stays.
          <Input key={`${field.name} ${field.options?.length}`} field={field} value={filter[field.name]} />
        ))}
        {!fields.every(isShown) && (
          <button type="button" className="link" onClick={() => setMore(true)}>
            More filters
          </button>
        )}
        <button type="submit">Search</button>
        {Object.values(filter).some((value) => value !== undefined) && (
          <button type="button" onClick={() => onSearch({})}>
            Clear
          </button>
        )}
      </form>
    </search>
  );
}

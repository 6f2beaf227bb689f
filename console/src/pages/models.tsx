import type { Model } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { day, shifted, short, usd } from '../format.ts';
import { Badge, Empty, PageHead, Pending } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const MILLION_DIGITS = 6;

/** A price of one unit as that of a million: they are read so everywhere. */
const perMillion = (price: string | undefined): string => (price === undefined ? '–' : usd(shifted(price, MILLION_DIGITS)));

const COLUMNS: readonly Column<Model>[] = [
  {
    name: 'Model',
    cell: ({ id, deprecated }) => (
      <>
        <Link to="/models/$modelId" params={{ modelId: id }}>
          {id}
        </Link>{' '}
        {deprecated !== null && <Badge state="deprecated" tone="wait" />}
      </>
    ),
  },
  { name: 'Kind', cell: ({ kind }) => <Badge state={kind} />, isSecondary: true },
  { name: 'Of', cell: ({ owned_by: owner }) => owner, isSecondary: true },
  { name: 'Context', cell: ({ context_length: length }) => (length === null ? '–' : short(length)), isFigure: true, isSecondary: true },
  { name: 'In, a million', cell: ({ pricing }) => perMillion(pricing?.prices.input_tokens), isFigure: true },
  { name: 'Cached', cell: ({ pricing }) => perMillion(pricing?.prices.cached_input_tokens), isFigure: true, isSecondary: true },
  { name: 'Out', cell: ({ pricing }) => perMillion(pricing?.prices.output_tokens), isFigure: true },
  { name: 'Since', cell: ({ pricing }) => day(pricing?.effective_from ?? null), isSecondary: true },
];

export function ModelsPage() {
  const search = useSearch({ from: '/frame/models' });
  const navigate = useNavigate({ from: '/models' });
  // What is typed changes one entry of the history, not one for each letter.
  const show = (changed: typeof search): void => void navigate({ search: { ...search, ...changed }, replace: true });
  const [typed, setTyped] = useState(search.q ?? '');
  const isAll = search.all !== undefined;
  const { data, error } = useQuery({ queryKey: ['models', isAll], queryFn: () => tallygate.models.list({ all: isAll }) });
  const rows = data?.data.filter(({ id, owned_by: owner }) => `${id} ${owner}`.toLowerCase().includes(typed.toLowerCase())) ?? [];
  return (
    <>
      <PageHead title="Models and prices">
        Each price is an entry of the receipts log before it is charged, so that none can be dated back.
      </PageHead>
      <search className="filters">
        <label>
          Find{' '}
          <input type="search" value={typed} onChange={({ target }) => [setTyped(target.value), show({ q: target.value || undefined })]} />
        </label>
        <label className="check">
          <input type="checkbox" checked={isAll} onChange={({ target }) => show({ all: target.checked ? 'yes' : undefined })} /> Also those
          that no provider here serves
        </label>
      </search>
      {!data && <Pending error={error} />}
      {rows.length > 0 && <Table label="Models" rows={rows} columns={COLUMNS} idOf={({ id }) => id} />}
      {data && rows.length === 0 && (
        <Empty title="No model is called that">Look for another name, or among those that no provider here serves.</Empty>
      )}
    </>
  );
}

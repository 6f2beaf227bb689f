import type { Model, ModelPricing } from '@tallygate/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, day, moment, shifted, usd } from '../format.ts';
import { useMay } from '../session.ts';
import { Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { Badge, Empty, Failure, Figure, Figures, Loading, PageFailure, PageHead, Panel } from '../ui/parts.tsx';
import { type Column, Table } from '../ui/table.tsx';

const MILLION_DIGITS = 6;
type Meter = keyof ModelPricing['prices'];

const meterName = (meter: string): string => meter.replaceAll('_', ' ');
const perMillion = (price: string): string => shifted(price, MILLION_DIGITS);
/** Tokens and characters are priced by the million everywhere; a search or a picture by itself. */
const isByMillion = (meter: string): boolean => /tokens|characters/.test(meter);
const unitOf = (meter: string): string => (isByMillion(meter) ? 'a million' : 'each');
const priceOf = (meter: string, price: string): string => usd(isByMillion(meter) ? perMillion(price) : price);

/** Which of its versions is charged now, will be, or was. */
function stateOf({ version }: ModelPricing, { pricing }: Model, isLater: boolean) {
  if (version === pricing?.version) return <Badge state="charged now" tone="good" />;
  return <Badge state={isLater ? 'from then on' : 'past'} tone={isLater ? 'wait' : 'quiet'} />;
}

const isLater = ({ effective_from: from }: ModelPricing): boolean => Date.parse(from) > Date.now();

function columnsOf(model: Model, versions: readonly ModelPricing[]): readonly Column<ModelPricing>[] {
  const meters = [...new Set(versions.flatMap(({ prices }) => Object.keys(prices)))] as Meter[];
  return [
    { name: 'From', cell: ({ effective_from: from }) => <time dateTime={from}>{day(from)}</time> },
    { name: 'State', cell: (pricing) => stateOf(pricing, model, isLater(pricing)) },
    ...meters.map((meter) => ({
      name: `${meterName(meter)}, ${unitOf(meter)}`,
      cell: ({ prices }: ModelPricing) => {
        const price = prices[meter];
        return price === undefined ? '–' : priceOf(meter, price);
      },
      isFigure: true as const,
    })),
    { name: 'Set by', cell: ({ source }) => source, isSecondary: true },
    { name: 'Entry of the log', cell: ({ entry }) => (entry === null ? 'waits for its place' : entry.index), isSecondary: true },
  ];
}

function History({ model }: { model: Model }) {
  const { data, error } = useQuery({ queryKey: ['prices'], queryFn: () => tallygate.models.prices() });
  if (error) return <Failure error={error} />;
  if (!data) return <Loading />;
  const versions = data.data
    .filter(({ id }) => id === model.id)
    .map(({ pricing }) => pricing)
    .toSorted((a, b) => b.effective_from.localeCompare(a.effective_from));
  if (versions.length === 0) return <Empty title="No price yet">Until it has one, the model is not served.</Empty>;
  return (
    <>
      <Table label="Prices, the newest first" rows={versions} columns={columnsOf(model, versions)} idOf={({ version }) => version} />
      <p className="hint">{versions[0]?.cited !== null && `The newest is from ${versions[0]?.cited}.`}</p>
    </>
  );
}

/** What models are charged by that have no price yet. */
const DEFAULT_METERS: readonly Meter[] = ['input_tokens', 'output_tokens'];

function SetPrice({ model, onClose }: { model: Model; onClose: () => void }) {
  const client = useQueryClient();
  const meters = model.pricing ? (Object.keys(model.pricing.prices) as Meter[]) : DEFAULT_METERS;
  const save = async (fields: FormData): Promise<void> => {
    const from = given(fields, 'from');
    const source = given(fields, 'source');
    await tallygate.models.setPrice(model.id, {
      usd_per_million: Object.fromEntries(meters.map((meter) => [meter, given(fields, meter) ?? '0'])),
      ...(source !== undefined && { source }),
      ...(from !== undefined && { effective_from: new Date(`${from}Z`).toISOString() }),
    });
    for (const name of ['prices', 'model', 'models']) await client.invalidateQueries({ queryKey: [name] });
    onClose();
  };
  return (
    <Dialog title={`A new price of ${model.id}`} onClose={onClose}>
      <Form action="Set the price" onSubmit={save} onCancel={onClose}>
        {meters.map((meter) => (
          <Field
            key={meter}
            name={meter}
            label={`${meterName(meter)}, USD a million`}
            inputMode="decimal"
            isRequired
            defaultValue={model.pricing?.prices[meter] === undefined ? '' : perMillion(model.pricing.prices[meter])}
          />
        ))}
        <Field name="from" label="Charged from, UTC" type="datetime-local" hint="Empty: now. It cannot be dated back." />
        <Field name="source" label="Where the figures are from" autoComplete="off" />
      </Form>
    </Dialog>
  );
}

function Detail({ model }: { model: Model }) {
  const [isPricing, setPricing] = useState(false);
  const isOperator = useMay('run the gateway');
  const mayUse = useMay('use models');
  return (
    <>
      <PageHead
        title={model.id}
        aside={
          <>
            {mayUse && model.kind === 'chat' && (
              <Link to="/playground" search={{ model: model.id }} className="button">
                Try it
              </Link>
            )}
            {isOperator && (
              <button type="button" onClick={() => setPricing(true)}>
                Set a price
              </button>
            )}
          </>
        }
      >
        <Badge state={model.kind} /> of {model.owned_by} {model.deprecated !== null && `, deprecated since ${day(model.deprecated)}`}
      </PageHead>
      <Figures>
        <Figure label="Context" value={model.context_length === null ? '–' : count(model.context_length)} note="tokens" />
        <Figure label="Answer at most" value={model.max_output_tokens === null ? '–' : count(model.max_output_tokens)} note="tokens" />
        <Figure label="In batches" value={model.pricing ? `× ${model.pricing.batch_factor}` : '–'} note="of all prices" />
        <Figure label="Price since" value={day(model.pricing?.effective_from ?? null)} />
      </Figures>
      <Panel title="Prices">
        <History model={model} />
      </Panel>
      <Panel title="About it">
        <dl className="facts">
          {[
            ['Takes', model.modalities.input.join(', ')],
            ['Gives', model.modalities.output.join(', ')],
            ['Can', model.capabilities.join(', ')],
            ['Endpoints', model.endpoints.join(', ')],
            ['Other names', model.aliases.join(', ')],
            ['May be replaced by', model.ladder.join(', ')],
            ['Released', model.created === 0 ? '' : moment(new Date(model.created * 1_000).toISOString())],
          ].map(
            ([name, value]) =>
              value !== '' && (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{value}</dd>
                </div>
              ),
          )}
        </dl>
      </Panel>
      {isPricing && <SetPrice model={model} onClose={() => setPricing(false)} />}
    </>
  );
}

export function ModelPage() {
  const { modelId } = useParams({ from: '/frame/models/$modelId' });
  const { data, error } = useQuery({ queryKey: ['model', modelId], queryFn: () => tallygate.models.get(modelId) });
  if (error) return <PageFailure error={error} />;
  return data ? <Detail model={data} /> : <Loading />;
}

import type { Model, ModelPricing } from '@tallygate/sdk';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { count, day, moment } from '../format.ts';
import { PriceHistory } from '../prices/price-history.tsx';
import { PriceTable } from '../prices/price-table.tsx';
import { SetPrice } from '../prices/set-price.tsx';
import { useMay } from '../session.ts';
import { Badge, Empty, Facts, Figure, Figures, PageHead, PagePending, Panel, Pending } from '../ui/parts.tsx';

/** All prices of a model, those of service tiers included, the newest first. */
function useVersions(modelId: string) {
  const { data, error } = useQuery({ queryKey: ['prices'], queryFn: () => tallygate.models.prices() });
  const versions = data?.data
    .filter(({ id }) => id === modelId)
    .map(({ pricing }) => pricing)
    .toSorted((a, b) => b.effective_from.localeCompare(a.effective_from) || a.version.localeCompare(b.version));
  return { versions, error };
}

function Prices({ model: { pricing }, versions }: { model: Model; versions: readonly ModelPricing[] }) {
  if (versions.length === 0)
    return (
      <Panel title="Prices">
        <Empty title="No price yet">Until it has one, the model is not served.</Empty>
      </Panel>
    );
  return (
    <>
      {pricing && (
        <Panel title="Charged now">
          <PriceTable pricing={pricing} versions={versions} />
        </Panel>
      )}
      <Panel title="All prices">
        <PriceHistory now={pricing} versions={versions} />
      </Panel>
    </>
  );
}

function Detail({ model }: { model: Model }) {
  const { versions, error } = useVersions(model.id);
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
      {versions ? <Prices model={model} versions={versions} /> : <Pending error={error} />}
      <Panel title="About it">
        <Facts
          facts={[
            ['Takes', model.modalities.input.join(', ')],
            ['Gives', model.modalities.output.join(', ')],
            ['Can', model.capabilities.join(', ')],
            ['Endpoints', model.endpoints.join(', ')],
            ['Other names', model.aliases.join(', ')],
            ['May be replaced by', model.ladder.join(', ')],
            ['Released', model.created === 0 ? '' : moment(new Date(model.created * 1_000).toISOString())],
          ]}
        />
      </Panel>
      {isPricing && versions && <SetPrice model={model} versions={versions} onClose={() => setPricing(false)} />}
    </>
  );
}

export function ModelPage() {
  const { modelId } = useParams({ from: '/frame/models/$modelId' });
  const { data, error } = useQuery({ queryKey: ['model', modelId], queryFn: () => tallygate.models.get(modelId) });
  return data ? <Detail model={data} /> : <PagePending error={error} />;
}

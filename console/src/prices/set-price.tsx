import type { Model, ModelPricing, PriceInput } from '@tallygate/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { tallygate } from '../client.ts';
import { count } from '../format.ts';
import { Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { type Meter, meterName, perMillion, tierOf, tiersBeside } from './versions.ts';

/** What models are charged by that have no price yet. */
const NO_PRICE = { input_tokens: undefined, output_tokens: undefined };

type Prices = Readonly<Partial<Record<Meter, string | undefined>>>;
type Charged = Pick<ModelPricing, 'tiers'> & { readonly prices: Prices };

/** The name of a field: of which tier, above how many tokens in, which meter. */
const fieldOf = (tier: string, above: number | '', meter: string): string => `${tier} ${above} ${meter}`;

function PriceFields({ tier, above, prices }: { tier: string; above: number | ''; prices: Prices }) {
  const suffix = [tier, above === '' ? '' : `above ${count(above)} tokens in`].filter(Boolean).join(', ');
  return (Object.keys(prices) as Meter[]).map((meter) => (
    <Field
      key={meter}
      name={fieldOf(tier, above, meter)}
      label={`${meterName(meter)}, USD a million${suffix && `, ${suffix}`}`}
      inputMode="decimal"
      isRequired
      defaultValue={prices[meter] === undefined ? '' : perMillion(prices[meter])}
    />
  ));
}

const AllFields = ({ tier, charged }: { tier: string; charged: Charged }) => (
  <>
    <PriceFields tier={tier} above="" prices={charged.prices} />
    {charged.tiers.map(({ above_input_tokens: above, prices }) => (
      <PriceFields key={above} {...{ tier, above, prices }} />
    ))}
  </>
);

/** What was typed for one tier: whatever is charged now is in the new price too. */
function pricesIn(fields: FormData, tier: string, charged: Charged) {
  const typed = (above: number | '', prices: Prices) =>
    Object.fromEntries(Object.keys(prices).map((meter) => [meter, given(fields, fieldOf(tier, above, meter)) ?? '0']));
  return {
    usd_per_million: typed('', charged.prices),
    ...(charged.tiers.length > 0 && {
      tiers: charged.tiers.map(({ above_input_tokens: above, prices }) => ({
        above_input_tokens: above,
        usd_per_million: typed(above, prices),
      })),
    }),
  };
}

interface SetPriceProps {
  readonly model: Model;
  /** Every price there was of it, those of service tiers included. */
  readonly versions: readonly ModelPricing[];
  readonly onClose: () => void;
}

/** A new price takes the place of the whole one: of long inputs, service tiers and batches too, so all of them are here. */
export function SetPrice({ model, versions, onClose }: SetPriceProps) {
  const client = useQueryClient();
  const { pricing } = model;
  const standard: Charged = pricing ?? { prices: NO_PRICE, tiers: [] };
  const tiers = pricing ? tiersBeside(pricing, versions) : [];
  const save = async (fields: FormData): Promise<void> => {
    const [from, source] = [given(fields, 'from'), given(fields, 'source')];
    const price: PriceInput = {
      ...pricesIn(fields, '', standard),
      ...(tiers.length > 0 && {
        service_tiers: Object.fromEntries(tiers.map((one) => [tierOf(one) ?? '', pricesIn(fields, tierOf(one) ?? '', one)])),
      }),
      batch_factor: given(fields, 'batch') ?? '1',
      ...(source !== undefined && { source }),
      ...(from !== undefined && { effective_from: new Date(`${from}Z`).toISOString() }),
    };
    await tallygate.models.setPrice(model.id, price);
    for (const name of ['prices', 'model', 'models']) await client.invalidateQueries({ queryKey: [name] });
    onClose();
  };
  return (
    <Dialog title={`A new price of ${model.id}`} onClose={onClose}>
      <Form action="Set the price" onSubmit={save} onCancel={onClose}>
        <AllFields tier="" charged={standard} />
        {tiers.map((one) => (
          <AllFields key={one.version} tier={tierOf(one) ?? ''} charged={one} />
        ))}
        <Field
          name="batch"
          label="Factor in batches"
          inputMode="decimal"
          defaultValue={pricing?.batch_factor ?? '1'}
          hint="0.5 is half of all prices."
        />
        <Field name="from" label="Charged from, UTC" type="datetime-local" hint="Empty: now. It cannot be dated back." />
        <Field name="source" label="Where the figures are from" autoComplete="off" />
      </Form>
    </Dialog>
  );
}

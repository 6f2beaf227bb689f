import type { WebhookEndpoint, WebhookEventName } from '@tallygate/sdk';
import { Choices } from '../ui/choices.tsx';
import { Field, given, Select } from '../ui/dialog.tsx';

/** What can be told of, by the word before the dot. */
const EVENTS: readonly WebhookEventName[] = [
  ...(['key.created', 'key.rotated', 'key.revoked'] as const),
  ...(['budget.threshold_reached', 'budget.cap_hit'] as const),
  ...(['limit.threshold_reached', 'limit.cap_hit'] as const),
  ...(['spend.threshold_reached', 'run.exhausted'] as const),
  ...(['provider.set_aside', 'provider.restored'] as const),
  ...(['invoice.issued', 'receipt.anchored', 'log.stopped'] as const),
];
const FORMATS = [
  ['standard', 'JSON, signed'],
  ['slack', 'A message for Slack'],
  ['teams', 'A card for Microsoft Teams'],
] as const satisfies readonly (readonly [WebhookEndpoint['format'], string])[];

/** What a form says of an endpoint. No event chosen: all of them, those of later versions too. */
export function endpointOf(fields: FormData) {
  const types = fields.getAll('event') as WebhookEventName[];
  return {
    description: given(fields, 'description') ?? '',
    format: fields.get('format') as WebhookEndpoint['format'],
    event_types: types.length === 0 ? null : types,
  };
}

interface EndpointFieldsProps {
  readonly endpoint?: WebhookEndpoint;
}

export function EndpointFields({ endpoint }: EndpointFieldsProps) {
  // Of Slack and Teams the path is a credential, so the address that is shown is not the whole one.
  const known = endpoint?.format === 'standard' ? endpoint.url : '';
  return (
    <>
      <Field
        name="url"
        label="Address"
        type="url"
        placeholder="https://example.com/tallygate"
        defaultValue={known}
        isRequired={endpoint === undefined}
        autoComplete="off"
        {...(endpoint && { hint: `Empty: it stays ${endpoint.url}.` })}
      />
      <Field name="description" label="For people" placeholder="finance" defaultValue={endpoint?.description ?? ''} autoComplete="off" />
      <Select name="format" label="Sent as" options={FORMATS} defaultValue={endpoint?.format ?? 'standard'} />
      <Choices name="event" legend="Only these events. None chosen: all of them" options={EVENTS} chosen={endpoint?.event_types ?? []} />
    </>
  );
}

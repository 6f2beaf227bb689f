import type { MarketingPersonRecord } from '@tallygate/sdk';
import { Badge } from '../ui/parts.tsx';

/** Whether news reach the person: somebody who has not unsubscribed gets none either without a consent that counts. */
export function MailState({ person: { subscription, consent } }: { person: Pick<MarketingPersonRecord, 'subscription' | 'consent'> }) {
  if (subscription !== 'subscribed') return <Badge state={subscription} tone="quiet" />;
  return consent?.confirmed_at ? <Badge state={subscription} tone="good" /> : <Badge state="no consent" tone="quiet" />;
}

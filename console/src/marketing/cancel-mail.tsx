import type { MarketingEmailRecord } from '@tallygate/sdk';
import { tallygate } from '../client.ts';
import { count } from '../format.ts';
import { Confirm } from '../ui/dialog.tsx';
import { useReload } from '../ui/paged.tsx';

export function CancelMail({ email, onClose }: { email: MarketingEmailRecord; onClose: () => void }) {
  const reload = useReload('emails', 'recipients');
  const cancel = async (): Promise<void> => {
    await tallygate.emails.cancel(email.email_id);
    await reload();
  };
  return (
    <Confirm title={`Stop “${email.subject}”?`} action="Stop it" onConfirm={cancel} onClose={onClose}>
      {count(email.progress.queued)} people who wait for it do not get it; {count(email.progress.sent)} have it already.
    </Confirm>
  );
}

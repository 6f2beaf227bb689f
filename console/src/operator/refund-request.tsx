import type { RefundResponse } from '@tallygate/sdk';
import { useState } from 'react';
import { tallygate } from '../client.ts';
import { usd } from '../format.ts';
import { Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { useReload } from '../ui/paged.tsx';
import { Mono } from '../ui/parts.tsx';

interface RefundRequestProps {
  /** The request that is looked at; left out, any that is typed. */
  readonly request?: { readonly id: string; readonly cost: string };
  /** The ledger says so a moment later. */
  readonly onRefunded?: () => void;
  readonly onClose: () => void;
}

function Refunded({ refund, onClose }: { refund: RefundResponse; onClose: () => void }) {
  return (
    <Dialog title="Refunded" onClose={onClose}>
      <p>
        {usd(refund.cost_usd)} no longer count for any cap, and {usd(refund.charged_usd)} went back to where they had come from.
      </p>
      <p>
        The receipt of the refund is <Mono>{refund.receipt_id}</Mono>.
      </p>
      <div className="form-actions">
        <button type="button" className="primary" onClick={onClose}>
          Done
        </button>
      </div>
    </Dialog>
  );
}

/** All that a request has cost, once, of any account. */
export function RefundRequest({ request, onRefunded, onClose }: RefundRequestProps) {
  const reload = useReload('request', 'receipts', 'usage', 'budgets');
  const [refund, setRefund] = useState<RefundResponse>();
  const give = async (fields: FormData): Promise<void> => {
    const id = request?.id ?? given(fields, 'request') ?? '';
    setRefund(await tallygate.requests.refund({ request_id: id, reason: given(fields, 'reason') ?? '' }));
    onRefunded?.();
    await reload();
  };
  if (refund) return <Refunded refund={refund} onClose={onClose} />;
  return (
    <Dialog title={request ? 'Refund this request?' : 'Refund a request'} onClose={onClose}>
      <Form action="Refund the request" isDangerous onSubmit={give} onCancel={onClose}>
        <p>
          {request ? (
            <>
              {usd(request.cost)} of <Mono>{request.id}</Mono> are
            </>
          ) : (
            'All that the request has cost is'
          )}{' '}
          given back to balance, invoice and quota, once. It has a receipt of its own, and cannot be taken back.
        </p>
        {!request && <Field name="request" label="Request ID" placeholder="req_…" isRequired autoComplete="off" />}
        <Field
          name="reason"
          label="Why"
          isRequired
          autoComplete="off"
          hint="It is in the receipt, which anybody who knows its id may read."
        />
      </Form>
    </Dialog>
  );
}

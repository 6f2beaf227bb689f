import type { PlanPayment } from '@tallygate/sdk';
import { tallygate } from '../client.ts';
import { usd } from '../format.ts';
import { Dialog, Field, Form, given } from '../ui/dialog.tsx';
import { useReload } from '../ui/paged.tsx';

/** What is not returned yet, without a float in it: amounts are whole cents. */
const leftOf = ({ amount_usd: amount, refunded_usd: refunded }: PlanPayment): string =>
  ((Math.round(Number(amount) * 100) - Math.round(Number(refunded) * 100)) / 100).toFixed(2);

interface ReturnPaymentProps {
  /** The payment that is looked at; left out, any that is typed. */
  readonly payment?: PlanPayment;
  readonly onClose: () => void;
}

/** A payment, or a part of it, to where it came from. */
export function ReturnPayment({ payment, onClose }: ReturnPaymentProps) {
  const reload = useReload('plan-payments', 'plan-billing');
  const give = async (fields: FormData): Promise<void> => {
    const amount = given(fields, 'amount');
    await tallygate.plans.refundPayment(payment?.payment_id ?? given(fields, 'payment') ?? '', {
      reason: given(fields, 'reason') ?? '',
      ...(amount !== undefined && { amount_usd: amount }),
    });
    await reload();
    onClose();
  };
  return (
    <Dialog title={payment ? `Return the payment of ${usd(payment.amount_usd)}?` : 'Return a payment'} onClose={onClose}>
      <Form action="Return the payment" isDangerous onSubmit={give} onCancel={onClose}>
        <p>It goes back to where it came from, and what it had credited to a balance is taken back. It cannot be undone.</p>
        {!payment && <Field name="payment" label="Id of the payment" isRequired autoComplete="off" />}
        <Field
          name="amount"
          label="Amount, USD"
          inputMode="decimal"
          hint={`Whole cents. Empty: all that is left${payment ? `, ${usd(leftOf(payment))}` : ''}.`}
        />
        <Field name="reason" label="Why" isRequired autoComplete="off" hint="For the audit log." />
      </Form>
    </Dialog>
  );
}

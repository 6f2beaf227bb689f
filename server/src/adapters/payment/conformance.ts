import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  type CheckoutSession,
  type ListedPrice,
  type PaymentEvent,
  PaymentFault,
  type PaymentProvider,
  type Subscription,
  WebhookRefused,
} from './port.ts';

/** What the customer pays with: a card that is always good, or one that is declined once its owner has left. */
export type TestCardKind = 'good' | 'no_funds_later' | 'authentication_later';

/** A provider under test, with what its customers, its clock and its webhooks do. */
export interface PaymentsUnderTest {
  readonly provider: PaymentProvider;
  /** Opens the hosted page and presses Pay. */
  pay(session: CheckoutSession, card: TestCardKind): Promise<void>;
  /** Opens the hosted page and presses Decline. */
  decline(session: CheckoutSession): Promise<void>;
  advanceDays(days: number): Promise<void>;
  /** Everything that webhooks told so far, verified; resolves when all is told. */
  told(): Promise<PaymentEvent[]>;
  /** The last webhook as it arrived. */
  lastWebhook(): { readonly rawBody: Buffer; readonly signature: string };
  close(): Promise<void>;
}

const USD = 1_000_000_000n;
const PRO: ListedPrice = { planId: 'pro', version: 1, name: 'Pro', monthlyPrice: 20n * USD };
const SCALE: ListedPrice = { planId: 'scale', version: 3, name: 'Scale', monthlyPrice: 200n * USD };
const ref = ({ planId, version }: ListedPrice) => ({ planId, version });
const key = () => ({ idempotencyKey: randomUUID() });

/** The guarantees of the port, for every implementation. */
export function describePayments(name: string, start: () => Promise<PaymentsUnderTest>): void {
  describe(name, () => {
    let under: PaymentsUnderTest;
    let provider: PaymentProvider;
    const accountId = randomUUID();
    beforeEach(async () => {
      under = await start();
      provider = under.provider;
      await provider.provision([PRO, SCALE]);
    });
    afterEach(() => under.close());

    const customer = () => provider.ensureCustomer({ accountId, email: 'ada@example.com', idempotencyKey: `customer:${accountId}` });
    const back = { successUrl: 'http://shop.example/ok?session={CHECKOUT_SESSION_ID}', cancelUrl: 'http://shop.example/no' };
    const topUp = async (reference = 'topup-1', saveCard = true) =>
      provider.createCheckout({
        ...key(),
        ...back,
        mode: 'payment',
        accountId,
        customerId: await customer(),
        reference,
        amount: 25n * USD,
        description: 'Balance',
        saveCard,
      });
    const subscribe = async (plan: ListedPrice, card: TestCardKind = 'good'): Promise<Subscription> => {
      const customerId = await customer();
      const session = await provider.createCheckout({
        ...key(),
        ...back,
        mode: 'subscription',
        accountId,
        customerId,
        reference: 'sub-1',
        plan: ref(plan),
      });
      await under.pay(session, card);
      const { subscriptionId = '' } = (await provider.readCheckout(session.id)) ?? {};
      return must(await provider.readSubscription(subscriptionId));
    };
    const present = async ({ id }: Subscription) => must(await provider.readSubscription(id));
    const kinds = async () => (await under.told()).map(({ kind }) => kind);
    const paid = async (card: TestCardKind = 'good') => {
      const session = await topUp();
      await under.pay(session, card);
      return must(must(await provider.readCheckout(session.id)).paymentId);
    };
    const charge = async (reference = 'auto-1') =>
      provider.chargeOffSession({ ...key(), accountId, customerId: await customer(), reference, amount: 10n * USD, description: 'Top-up' });

    describe('plans and customers', () => {
      test('are made once, however often they are asked for', async () => {
        await provider.provision([PRO, SCALE]);
        expect(await customer()).toBe(await customer());
        const customerId = await customer();
        expect(await provider.ensureCustomer({ ...key(), accountId, customerId, email: 'new@example.com' })).toBe(customerId);
      });

      test('a version that was sold is never given another price', async () => {
        await expect(provider.provision([{ ...PRO, monthlyPrice: 21n * USD }])).rejects.toMatchObject({ kind: 'invalid' });
        await provider.provision([{ ...PRO, version: 2, monthlyPrice: 21n * USD }]);
      });

      test('a plan that was never provisioned is not sold', async () => {
        const order = { ...key(), ...back, accountId, customerId: await customer(), reference: 'r', plan: { planId: 'gold', version: 1 } };
        await expect(provider.createCheckout({ ...order, mode: 'subscription' })).rejects.toMatchObject({
          name: 'PaymentFault',
          kind: 'not_found',
        });
      });
    });

    describe('checkout', () => {
      test('a payment that is made is told of with our ids and its amount, and is there to be read', async () => {
        const session = await topUp();
        expect(session).toMatchObject({ status: 'open', isPaid: false, amount: 25n * USD, accountId, reference: 'topup-1' });
        await under.pay(session, 'good');
        const read = must(await provider.readCheckout(session.id));
        expect(read).toMatchObject({ status: 'complete', isPaid: true, url: undefined, accountId, reference: 'topup-1' });
        const told = await under.told();
        expect(told.find(({ kind }) => kind === 'checkout_completed')).toMatchObject({
          type: 'checkout.session.completed',
          livemode: false,
          session: { id: session.id, isPaid: true, accountId, reference: 'topup-1', amount: 25n * USD, paymentId: read.paymentId },
        });
        expect(told.find(({ kind }) => kind === 'payment_succeeded')).toMatchObject({
          payment: { id: read.paymentId, status: 'succeeded', amount: 25n * USD, accountId, reference: 'topup-1' },
        });
        expect(await provider.readPayment(read.paymentId ?? '')).toMatchObject({ status: 'succeeded', refunded: 0n, amount: 25n * USD });
      });

      test('a payment that is declined leaves the page open for another card', async () => {
        const session = await topUp();
        await under.decline(session);
        expect(await provider.readCheckout(session.id)).toMatchObject({ status: 'open', isPaid: false });
        expect((await under.told()).find(({ kind }) => kind === 'payment_failed')).toMatchObject({
          payment: { decline: { reason: 'declined' } },
        });
        await under.pay(session, 'good');
        expect(await provider.readCheckout(session.id)).toMatchObject({ status: 'complete', isPaid: true });
      });

      test('the same command is one session; another under its key is a conflict', async () => {
        const command = {
          ...key(),
          ...back,
          mode: 'payment',
          accountId,
          customerId: await customer(),
          reference: 'r',
          description: 'Balance',
        } as const;
        const first = await provider.createCheckout({ ...command, amount: 5n * USD, saveCard: false });
        expect((await provider.createCheckout({ ...command, amount: 5n * USD, saveCard: false })).id).toBe(first.id);
        await expect(provider.createCheckout({ ...command, amount: 6n * USD, saveCard: false })).rejects.toMatchObject({
          kind: 'idempotency_conflict',
        });
      });

      test('a session that is expired can no longer be paid, and one that is paid no longer expired', async () => {
        const [expired, complete] = [await topUp('a'), await topUp('b')];
        expect(await provider.expireCheckout(expired.id)).toMatchObject({ status: 'expired', url: undefined });
        await under.pay(expired, 'good');
        await under.pay(complete, 'good');
        expect(await provider.expireCheckout(complete.id)).toMatchObject({ status: 'complete', isPaid: true });
        expect(await provider.readCheckout(expired.id)).toMatchObject({ status: 'expired', isPaid: false });
        expect(await kinds()).toContain('checkout_expired');
      });

      test('what is not there is read as nothing', async () => {
        expect(await provider.readCheckout('cs_test_none')).toBeUndefined();
        expect(await provider.expireCheckout('cs_test_none')).toBeUndefined();
        expect(await provider.readPayment('pi_none')).toBeUndefined();
        expect(await provider.readInvoice('in_none')).toBeUndefined();
        expect(await provider.readSubscription('sub_none')).toBeUndefined();
      });
    });

    describe('subscriptions', () => {
      test('one that is paid for is active for a month, with an invoice that says what for', async () => {
        const subscription = await subscribe(PRO);
        expect(subscription).toMatchObject({ status: 'active', plan: ref(PRO), accountId, reference: 'sub-1', cancelsAtPeriodEnd: false });
        expect(Math.round((subscription.periodEndMs - subscription.periodStartMs) / 86_400_000)).toBeOneOf([28, 29, 30, 31]);
        const invoice = must(await provider.readInvoice(subscription.latestInvoiceId ?? ''));
        expect(invoice).toMatchObject({ status: 'paid', reason: 'first', total: 20n * USD, paid: 20n * USD, remaining: 0n });
        expect(invoice).toMatchObject({
          subscriptionId: subscription.id,
          number: expect.any(String),
          lines: [{ amount: 20n * USD, isProration: false }],
        });
        const payment = must(await provider.readPayment(must(invoice.paymentIds[0])));
        expect(payment).toMatchObject({ status: 'succeeded', amount: 20n * USD, invoiceId: invoice.id });
        expect((await provider.listInvoices(subscription.customerId)).map(({ id }) => id)).toEqual([invoice.id]);
        expect((await provider.listSubscriptions(subscription.customerId)).map(({ id }) => id)).toEqual([subscription.id]);
        expect(await kinds()).toEqual(
          expect.arrayContaining(['checkout_completed', 'subscription_changed', 'invoice_paid', 'payment_succeeded']),
        );
      });

      test('an upgrade costs what its preview said, to the cent, and is there at once', async () => {
        const subscription = await subscribe(PRO);
        await under.advanceDays(10);
        const { customerId, id: subscriptionId, periodStartMs, periodEndMs } = subscription;
        const used = { customerId, subscriptionId, periodStartMs, periodEndMs, reference: 'u', description: 'Usage' };
        await provider.addInvoiceItem({ ...key(), ...used, amount: 1n * USD });
        const preview = await provider.previewChange({ subscriptionId: subscription.id, plan: ref(SCALE) });
        expect(preview.lines.map(({ amount, isProration }) => [amount > 0n, isProration])).toEqual([
          // What waits for the next invoice is on this one.
          [true, false],
          [false, true],
          [true, true],
        ]);
        expect(preview.lines.reduce((sum, { amount }) => sum + amount, 0n)).toBe(preview.dueNow);
        expect(preview).toMatchObject({ nextChargeAtMs: subscription.periodEndMs, nextAmount: 200n * USD });
        expect(await present(subscription)).toEqual(subscription);
        const change = { ...key(), subscriptionId: subscription.id, plan: ref(SCALE), proratedAtMs: preview.proratedAtMs };
        const outcome = await provider.changeSubscription(change);
        if (!outcome.changed) throw new Error('The change was declined');
        expect(outcome.subscription).toMatchObject({ plan: ref(SCALE), status: 'active', periodEndMs: subscription.periodEndMs });
        const invoice = must(await provider.readInvoice(outcome.invoiceId ?? ''));
        expect(invoice).toMatchObject({ total: preview.dueNow, paid: preview.dueNow, reason: 'change', status: 'paid' });
        await provider.changeSubscription(change);
        expect(await provider.listInvoices(subscription.customerId)).toHaveLength(2);
      });

      test('an upgrade that the card does not pay changes nothing, what was scheduled neither', async () => {
        const subscription = await subscribe(PRO, 'no_funds_later');
        await provider.cancelSubscription({ ...key(), subscriptionId: subscription.id, at: 'period_end' });
        const outcome = await provider.changeSubscription({ ...key(), subscriptionId: subscription.id, plan: ref(SCALE) });
        expect(outcome).toMatchObject({ changed: false, decline: { reason: 'insufficient_funds', message: expect.any(String) } });
        expect(await present(subscription)).toMatchObject({ plan: ref(PRO), status: 'active', cancelsAtPeriodEnd: true });
        expect(await provider.listInvoices(subscription.customerId)).toHaveLength(1);
      });

      test('a downgrade waits for the end of the period, and then costs the lower price', async () => {
        const subscription = await subscribe(SCALE);
        const scheduled = await provider.scheduleChange({ ...key(), subscriptionId: subscription.id, plan: ref(PRO) });
        expect(scheduled).toMatchObject({ plan: ref(SCALE), scheduledPlan: ref(PRO), scheduleId: expect.any(String) });
        expect(await provider.listInvoices(subscription.customerId)).toHaveLength(1);
        await under.advanceDays(32);
        expect(await present(subscription)).toMatchObject({ plan: ref(PRO), status: 'active', periodStartMs: subscription.periodEndMs });
        const [renewal] = await provider.listInvoices(subscription.customerId);
        expect(renewal).toMatchObject({ total: 20n * USD, status: 'paid', reason: 'renewal' });
        expect(await kinds()).toContain('schedule_changed');
      });

      test('what was scheduled can be dropped, is replaced by a later schedule, and is dropped by an upgrade', async () => {
        const subscription = await subscribe(SCALE);
        const command = () => ({ ...key(), subscriptionId: subscription.id });
        await provider.scheduleChange({ ...command(), plan: ref(PRO) });
        expect(await provider.releaseSchedule(command())).toMatchObject({
          scheduleId: undefined,
          scheduledPlan: undefined,
          plan: ref(SCALE),
        });
        await provider.releaseSchedule(command());
        const premium: ListedPrice = { ...PRO, version: 9, monthlyPrice: 30n * USD };
        await provider.provision([premium]);
        await provider.scheduleChange({ ...command(), plan: ref(PRO) });
        expect(await provider.scheduleChange({ ...command(), plan: ref(premium) })).toMatchObject({ scheduledPlan: ref(premium) });
        await provider.changeSubscription({ ...command(), plan: ref(premium) });
        expect(await present(subscription)).toMatchObject({ plan: ref(premium), scheduleId: undefined, scheduledPlan: undefined });
      });

      test('a cancellation waits for the end of the period and can be taken back until then', async () => {
        const subscription = await subscribe(PRO);
        const command = () => ({ ...key(), subscriptionId: subscription.id });
        await provider.scheduleChange({ ...command(), plan: ref(SCALE) });
        const ending = await provider.cancelSubscription({ ...command(), at: 'period_end' });
        expect(ending).toMatchObject({ status: 'active', cancelsAtPeriodEnd: true, scheduledPlan: undefined });
        expect(await provider.resumeSubscription(command())).toMatchObject({ cancelsAtPeriodEnd: false });
        await provider.cancelSubscription({ ...command(), at: 'period_end' });
        await under.advanceDays(32);
        expect(await present(subscription)).toMatchObject({ status: 'canceled', endedAtMs: subscription.periodEndMs });
      });

      test('one that is cancelled now is over now, and stays so', async () => {
        const subscription = await subscribe(PRO);
        expect(await provider.cancelSubscription({ ...key(), subscriptionId: subscription.id, at: 'now' })).toMatchObject({
          status: 'canceled',
        });
        expect(await provider.cancelSubscription({ ...key(), subscriptionId: subscription.id, at: 'now' })).toMatchObject({
          status: 'canceled',
        });
        await under.advanceDays(32);
        expect(await provider.listInvoices(subscription.customerId)).toHaveLength(1);
      });

      test('renewals are charged month by month; what was added is on the next one, once', async () => {
        const subscription = await subscribe(PRO);
        await provider.addInvoiceItem({
          ...key(),
          customerId: subscription.customerId,
          subscriptionId: subscription.id,
          amount: 3_450_000_000n,
          description: 'Usage beyond the quota',
          reference: 'overage-1',
          periodStartMs: subscription.periodStartMs,
          periodEndMs: subscription.periodEndMs,
        });
        await under.advanceDays(63);
        const invoices = await provider.listInvoices(subscription.customerId);
        expect(invoices.map(({ total }) => total)).toEqual([20n * USD, 23_450_000_000n, 20n * USD]);
        expect(invoices[1]?.lines.find(({ reference }) => reference === 'overage-1')).toMatchObject({ amount: 3_450_000_000n });
      });

      test('what was added can be taken back until it is on an invoice, and be billed by itself, once', async () => {
        const subscription = await subscribe(PRO);
        const { customerId, id: subscriptionId, periodEndMs, periodStartMs } = subscription;
        const usage = { customerId, amount: 3_450_000_000n, description: 'Usage', reference: 'usage-1', periodStartMs, periodEndMs };
        const [first, second] = [
          await provider.addInvoiceItem({ ...key(), ...usage, subscriptionId }),
          await provider.addInvoiceItem({ ...key(), ...usage, subscriptionId, reference: 'usage-2' }),
        ];
        expect(await provider.withdrawInvoiceItem(first.id)).toBeUndefined();
        expect(await provider.withdrawInvoiceItem(first.id)).toBeUndefined();
        await under.advanceDays(32);
        expect(await provider.withdrawInvoiceItem(second.id)).toBe((await present(subscription)).latestInvoiceId);
        await provider.cancelSubscription({ ...key(), subscriptionId, at: 'now' });
        const billed = await provider.issueInvoice({ ...key(), ...usage });
        expect(billed).toMatchObject({ status: 'paid', total: usage.amount, paid: usage.amount, subscriptionId: undefined });
        expect(billed.lines).toMatchObject([{ reference: 'usage-1', amount: usage.amount }]);
        expect(await provider.readPayment(billed.paymentIds[0] ?? '')).toMatchObject({ invoiceId: billed.id, amount: usage.amount });
        // Under another key as well: the provider may have forgotten the first.
        expect((await provider.issueInvoice({ ...key(), ...usage })).id).toBe(billed.id);
        expect((await provider.listInvoices(customerId)).map(({ total }) => total)).toEqual([usage.amount, 23_450_000_000n, 20n * USD]);
      });

      test('an invoice by itself that the card does not pay is open, with a page to pay it on', async () => {
        const { customerId, periodEndMs, periodStartMs } = await subscribe(PRO, 'no_funds_later');
        const usage = { customerId, amount: USD, description: 'Usage', reference: 'usage-1', periodStartMs, periodEndMs };
        const billed = await provider.issueInvoice({ ...key(), ...usage });
        expect(billed).toMatchObject({ status: 'open', remaining: USD, hostedUrl: expect.stringContaining('http') });
      });

      test('a renewal that is declined is past due, and in the end there is no subscription', async () => {
        const subscription = await subscribe(PRO, 'no_funds_later');
        await under.advanceDays(32);
        expect(await present(subscription)).toMatchObject({ status: 'past_due' });
        expect(await kinds()).toContain('invoice_payment_failed');
        await under.advanceDays(28);
        expect(await present(subscription)).toMatchObject({ status: 'canceled' });
      });
    });

    describe('charges while the customer is away', () => {
      test('go to the card that was saved', async () => {
        expect(await provider.readPaymentMethod(await customer())).toBeUndefined();
        await paid();
        expect(await provider.readPaymentMethod(await customer())).toMatchObject({
          brand: 'visa',
          last4: expect.stringMatching(/^\d{4}$/),
        });
        const outcome = await charge();
        expect(outcome).toMatchObject({
          charged: true,
          payment: { status: 'succeeded', amount: 10n * USD, accountId, reference: 'auto-1' },
        });
      });

      test('are not tried without one', async () => {
        await under.pay(await topUp('no card', false), 'good');
        expect(await charge()).toMatchObject({ charged: false, decline: { reason: 'no_payment_method' } });
      });

      test.each([
        ['no_funds_later', 'insufficient_funds'],
        ['authentication_later', 'authentication_required'],
      ] as const)('say why the card was declined: %s', async (card, reason) => {
        await paid(card);
        const outcome = await charge();
        expect(outcome).toMatchObject({ charged: false, decline: { reason } });
        const { paymentId = '' } = outcome.charged === false ? outcome.decline : {};
        expect(await provider.readPayment(paymentId)).toMatchObject({ status: 'failed', reference: 'auto-1', decline: { reason } });
        expect(await kinds()).toContain('payment_failed');
      });

      test('are made once under one key', async () => {
        await paid();
        const command = {
          ...key(),
          accountId,
          customerId: await customer(),
          reference: 'auto-2',
          amount: 10n * USD,
          description: 'Top-up',
        };
        const [first, again] = [await provider.chargeOffSession(command), await provider.chargeOffSession(command)];
        expect(again).toEqual(first);
        const told = (await under.told()).filter((event) => event.kind === 'payment_succeeded' && event.payment.reference === 'auto-2');
        expect(told).toHaveLength(1);
        const wanted = { customerId: command.customerId, reference: 'auto-2', sinceMs: 0 };
        expect(await provider.findPayment(wanted)).toMatchObject(first.charged === false ? {} : { id: first.payment.id });
        expect(await provider.findPayment({ ...wanted, reference: 'auto-3' })).toBeUndefined();
      });
    });

    describe('refunds', () => {
      test('return a part, then the rest, and never more', async () => {
        const paymentId = await paid();
        const refund = (amount?: bigint) =>
          provider.refund({ ...key(), paymentId, reference: 'refund-1', ...(amount !== undefined && { amount }) });
        expect(await refund(10n * USD)).toMatchObject({
          refunded: true,
          refund: { amount: 10n * USD, paymentId, reference: 'refund-1', status: 'succeeded' },
        });
        expect(await provider.findRefund(paymentId, 'refund-1')).toMatchObject({ amount: 10n * USD });
        expect(await provider.findRefund(paymentId, 'refund-2')).toBeUndefined();
        expect(await refund(16n * USD)).toMatchObject({ refunded: false, reason: 'exceeds_payment' });
        expect(await refund()).toMatchObject({ refunded: true, refund: { amount: 15n * USD } });
        expect(await refund()).toMatchObject({ refunded: false, reason: 'exceeds_payment' });
        expect(await provider.readPayment(paymentId)).toMatchObject({ refunded: 25n * USD });
        const told = (await under.told()).flatMap((event) => (event.kind === 'refund_changed' ? [event.refund.amount] : []));
        expect(told).toEqual([10n * USD, 15n * USD]);
      });

      test('of what was never paid are refused', async () => {
        await paid('no_funds_later');
        const outcome = await charge();
        const { paymentId = '' } = outcome.charged === false ? outcome.decline : {};
        expect(await provider.refund({ ...key(), paymentId, reference: 'r' })).toMatchObject({ refunded: false, reason: 'not_paid' });
        await expect(provider.refund({ ...key(), paymentId: 'pi_none', reference: 'r' })).rejects.toMatchObject({ kind: 'not_found' });
      });

      test('of a part of a cent are a mistake of the caller', async () => {
        const paymentId = await paid();
        await expect(provider.refund({ ...key(), paymentId, reference: 'r', amount: 1n })).rejects.toBeInstanceOf(RangeError);
      });
    });

    describe('events', () => {
      test('are listed oldest first, the same as webhooks told', async () => {
        const sinceMs = Date.UTC(2020);
        await subscribe(PRO);
        const told = await under.told();
        const listed: PaymentEvent[] = [];
        for await (const event of provider.listEvents(sinceMs)) listed.push(event);
        expect(listed.filter(({ id }) => told.some((one) => one.id === id))).toEqual(told);
        expect(listed.map(({ createdAtMs }) => createdAtMs)).toEqual(
          listed.map(({ createdAtMs }) => createdAtMs).toSorted((a, b) => a - b),
        );
      });

      test('are believed only as they were signed', async () => {
        await paid();
        await under.told();
        const { rawBody, signature } = under.lastWebhook();
        expect(provider.verifyWebhook(rawBody, signature).id).toMatch(/^evt_/);
        const changed = Buffer.from(rawBody.toString().replace('"usd"', '"eur"').replace('evt_', 'evt_x'));
        const older = signature.replace(/t=(\d+)/, (_all, t: string) => `t=${Number(t) - 1}`);
        for (const [body, header] of [
          [changed, signature],
          [rawBody, older],
          [rawBody, ''],
          [rawBody, undefined],
          [Buffer.from('no JSON'), signature],
        ] as const) {
          expect(() => provider.verifyWebhook(body, header)).toThrow(WebhookRefused);
        }
      });
    });

    test('a link to the portal is an address of a page', async () => {
      const link = await provider.createPortalLink({ customerId: await customer(), returnUrl: 'http://shop.example/' });
      expect(
        await fetch(link)
          .then((page) => page.text())
          .catch(() => '<html'),
      ).toContain('<html');
      await expect(provider.createPortalLink({ customerId: 'cus_none', returnUrl: 'http://shop.example/' })).rejects.toBeInstanceOf(
        PaymentFault,
      );
    });
  });
}

function must<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('There is nothing here');
  return value;
}

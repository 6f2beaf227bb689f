export type { Fault } from './control.ts';
export { type FakeStripe, type FakeStripeOptions, type RecordedRequest, startFakeStripe } from './server.ts';
export type { Delivery, Release } from './webhooks.ts';

export * from './events/checkout-records.ts';
export { eventCheckouts } from './events/checkouts.ts';
export * from './events/marketing-events.ts';
export * from './events/registration-records.ts';
export { registrations } from './events/registrations.ts';
export * from './events/site-event-records.ts';
export { siteEvents } from './events/site-events.ts';

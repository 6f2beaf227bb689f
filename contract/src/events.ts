export * from './events/registration-records.ts';
export { registrations } from './events/registrations.ts';
export * from './events/site-event-records.ts';
export { siteEvents } from './events/site-events.ts';

export * from './events/site-event-records.ts';
export * from './events/site-events.ts';

export { createEvents, type Events } from './events.ts';
export { registrationRoutes } from './registration-routes.ts';
export { siteEventRoutes } from './site-event-routes.ts';

export { siteEventRoutes } from './site-event-routes.ts';
export { createSiteEvents } from './site-events.ts';

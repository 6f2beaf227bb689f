export { checkoutRoutes } from './checkout-routes.ts';
export { createEvents, type Events } from './events.ts';
export { marketingEventRoutes } from './marketing-event-routes.ts';
export { followPayments } from './paid-registration.ts';
export { registrationRoutes } from './registration-routes.ts';
export { siteEventRoutes } from './site-event-routes.ts';

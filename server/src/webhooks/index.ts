export { DELIVERIES_DUE, deliverDue } from './deliver.ts';
export { Deliveries } from './deliveries.ts';
export { deleteAccountWebhooks, forgetMessages } from './forget-messages.ts';
export { MESSAGES_UNPLACED, placeMessages } from './place-messages.ts';
export { recordEvent } from './record-event.ts';
export { webhookRoutes } from './routes.ts';
export { SEALED_WEBHOOKS } from './secrets.ts';
export { Webhooks } from './webhooks.ts';

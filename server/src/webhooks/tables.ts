import { tablesOf } from '../kernel/statements.ts';
import type { WebhookDeliveryEntity, WebhookEndpointEntity, WebhookMessage } from './entities.ts';

export const tables = tablesOf<typeof WebhookEndpointEntity | typeof WebhookMessage | typeof WebhookDeliveryEntity>();

import type { UserTable } from '../../access/identity/index.ts';
import { tablesOf } from '../../kernel/statements.ts';
import type { CheckoutTable } from '../../money/plans/index.ts';
import type { EventRegistration, EventSecret, SiteEvent } from './entities.ts';

export const tables = tablesOf<typeof EventRegistration | typeof EventSecret | typeof SiteEvent | UserTable | CheckoutTable>();

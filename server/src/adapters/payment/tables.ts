import { tablesOf } from '../../kernel/statements.ts';
import type { SandboxPaymentEvent, SandboxPaymentObject, SandboxPaymentRequest } from './entities.ts';

export const tables = tablesOf<typeof SandboxPaymentEvent | typeof SandboxPaymentObject | typeof SandboxPaymentRequest>();

import { defineEntity, p } from '@mikro-orm/core';

const AccountSchema = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: {
    id: p.uuid().primary(),
    name: p.text(),
    plan: p.text(),
    createdAt: p.datetime().fieldName('created_at'),
  },
});

/** An account is named after its owner until then. */
export const CLOSED_ACCOUNT_NAME = 'Closed account';

/** Owns keys, usage and money. A user who signs up gets one of their own. */
export class Account extends AccountSchema.class {}
AccountSchema.setClass(Account);

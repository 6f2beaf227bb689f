import { defineEntity, p } from '@mikro-orm/core';
import { Account } from './account.ts';

const UserSchema = defineEntity({
  name: 'User',
  tableName: 'users',
  properties: {
    id: p.uuid().primary(),
    account: () => p.manyToOne(Account).fieldName('account_id'),
    email: p.text(),
    name: p.text().nullable(),
    role: p.enum(['member', 'marketing', 'admin'] as const),
    passwordHash: p.text().fieldName('password_hash').hidden(),
    emailVerifiedAt: p.datetime().fieldName('email_verified_at').nullable(),
    createdAt: p.datetime().fieldName('created_at'),
  },
});

/** A person. The e-mail address is unique whatever its case; it is kept as it was typed. */
export class User extends UserSchema.class {}
UserSchema.setClass(User);

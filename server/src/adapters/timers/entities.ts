import { defineEntity, p } from '@mikro-orm/core';

export const TimerLease = defineEntity({
  name: 'TimerLease',
  tableName: 'timers',
  properties: {
    name: p.text().primary(),
    nextAt: p.datetime(),
    runner: p.uuid(),
    leasedUntil: p.datetime(),
  },
});

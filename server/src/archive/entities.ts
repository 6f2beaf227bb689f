import { defineEntity, p } from '@mikro-orm/core';
import type { Month } from '../kernel/clock.ts';

export const ArchivePiece = defineEntity({
  name: 'ArchivePiece',
  tableName: 'archive_pieces',
  properties: {
    tableName: p.text().primary(),
    month: p.text().$type<Month>().primary(),
    piece: p.integer().primary(),
    firstKey: p.text(),
    lastKey: p.text(),
    rows: p.integer(),
    blobKey: p.text(),
    sha256: p.text(),
    accounts: p.array<string>().columnType('uuid[]'),
    startedFrom: p.datetime(),
    startedTo: p.datetime(),
    logFrom: p.bigint('bigint').nullable(),
    logTo: p.bigint('bigint').nullable(),
  },
});

export const ArchivedMonth = defineEntity({
  name: 'ArchivedMonth',
  tableName: 'archived_months',
  properties: {
    tableName: p.text().primary(),
    month: p.text().$type<Month>().primary(),
    rows: p.bigint('bigint'),
    archivedAt: p.datetime(),
  },
});

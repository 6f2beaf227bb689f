import { asJson, type RowOf } from '../../kernel/statements.ts';
import type { WorstCase } from '../calls/index.ts';
import type { BatchLine } from './entities.ts';
import { writtenUnits } from './written-settlement.ts';

/** Which line it is, and under which ids it is run. */
export interface PlaceOfLine {
  readonly batchId: string;
  readonly number: number;
  readonly customId: string;
  readonly requestId: string;
  readonly receiptId: string;
}

/** A line to be stored, sealed. */
export type LineRow = ReturnType<typeof lineRow>;

type Stored = Pick<RowOf<typeof BatchLine>, 'state' | 'is_error' | 'request' | 'output'>;

export const lineRow = ({ batchId, number, customId, requestId, receiptId }: PlaceOfLine, worstCase: WorstCase, stored: Stored) => ({
  batch_id: batchId,
  line: number,
  custom_id: customId,
  request_id: requestId,
  receipt_id: receiptId,
  reserved_nano: worstCase.amount,
  reserved_units: asJson(writtenUnits(worstCase.units)),
  // What may be large comes last: the driver's buffer need not grow behind it.
  ...stored,
});

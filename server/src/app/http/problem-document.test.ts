import { HTTPValidationError } from '@tallygate/contract';
import { expect, test } from 'vitest';
import { Problem } from '../../kernel/problem.ts';
import { toProblemDocument } from './problem-document.ts';

const CONTEXT = { requestId: 'req_019aa2f1c2d37b6e8c4d1f00aa55ee77', publicUrl: 'https://tallygate.test' };

test.each([
  [{ param: 'messages[0].role' }, ['body', 'messages', 0, 'role']],
  [{ param: 'modalities' }, ['body', 'modalities']],
  [{}, ['body']],
])('a 422 with %j alone lists its one fault', (extras, loc) => {
  const { body } = toProblemDocument(new Problem('unpriced_feature', 'Remove it.', extras), CONTEXT);
  expect(HTTPValidationError.parse(body).errors).toEqual([{ loc, msg: 'Remove it.', type: 'unpriced_feature' }]);
});

test('the faults that were found stay as they were found', () => {
  const errors = [{ loc: ['query', 'limit'], msg: 'is too large', type: 'too_big' }];
  expect(toProblemDocument(new Problem('validation_failed', 'Wrong.', { errors }), CONTEXT).body.errors).toEqual(errors);
});

import { answerQuestions } from '../../../kernel/answer-questions.ts';
import type { SegmentTask } from './segment-thread.ts';
import { segmentWork } from './segment-work.ts';

answerQuestions((task: SegmentTask): unknown => {
  switch (task.name) {
    case 'byMonth':
      return segmentWork.byMonth(task.given);
    case 'merged':
      return segmentWork.merged(task.given);
    default:
      return segmentWork.ofRequests(task.given satisfies string);
  }
});

import { answerQuestions } from '../../../kernel/answer-questions.ts';
import { doTask } from './segment-work.ts';

answerQuestions(doTask);

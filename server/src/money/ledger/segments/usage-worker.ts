import { answerQuestions } from '../../../kernel/answer-questions.ts';
import { addUp } from './add-up.ts';

answerQuestions(addUp);

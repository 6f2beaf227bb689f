import { answerQuestions } from '../../kernel/answer-questions.ts';
import type { ChosenPassword } from './password-strength.ts';
import { weaknessOf } from './password-weakness.ts';

answerQuestions(({ password, about }: ChosenPassword) => weaknessOf(password, about));

import type {
  CommandExecutionApprovalDecision,
  CommandExecutionRequestApprovalParams,
} from '../../src/protocol/generated/types.ts';
import type { TestServer } from '../support/test-server.ts';
import { done, runs, THREAD } from './command-server.ts';

type Question = CommandExecutionRequestApprovalParams;
/** The answer to each question. */
export type Answers = (question: Question) => CommandExecutionApprovalDecision;

export const decline: Answers = () => 'decline';
/** Accepts these words permanently. */
export const acceptWords = (...words: string[]): CommandExecutionApprovalDecision => ({
  acceptWithExecpolicyAmendment: { execpolicy_amendment: words },
});
/** Accepts the proposed words permanently. Without a proposal, declines. */
export const always: Answers = ({ proposedExecpolicyAmendment: words }) =>
  words == null ? 'decline' : acceptWords(...words);

let calls = 0;

/** Runs commands in a turn, and returns the questions about them. */
export async function questionsAbout(
  server: TestServer,
  commands: (string | [string, object])[],
  answers: Answers,
  threadId = THREAD,
): Promise<Question[]> {
  const responses = commands.map((command) => {
    calls += 1;
    return typeof command === 'string'
      ? runs(command, {}, `run_${calls}`)
      : runs(command[0], command[1], `run_${calls}`);
  });
  server.model.push(...responses, done);
  const from = server.client.messages.length;
  const { turn } = await server.client.request('turn/start', { threadId, input: [] });
  const questions: Question[] = [];
  for (;;) {
    const isQuestion = (method?: string) => method === 'item/commandExecution/requestApproval';
    const all = () => server.client.messages.slice(from).filter(({ method }) => isQuestion(method));
    const isOver = () =>
      server.client.notifications('turn/completed', (params) => params.turn.id === turn.id).length >
      0;
    await server.client.count(
      Number.POSITIVE_INFINITY,
      () => all().length > questions.length || isOver(),
    );
    const message = all()[questions.length];
    if (message === undefined) return questions;
    const params = message.params as Question;
    questions.push(params);
    server.client.send(JSON.stringify({ id: message.id, result: { decision: answers(params) } }));
  }
}

import { showText } from '../../../base/text/show-text.ts';
import type { Client } from '../../../client/client.ts';
import type {
  FileUpdateChange,
  McpElicitationPrimitiveSchema,
  McpServerElicitationRequestParams,
  McpServerElicitationRequestResponse,
  PermissionsRequestApprovalResponse,
  RequestPermissionProfile,
  ToolRequestUserInputQuestion,
} from '../../../protocol/generated/types.ts';
import { changeLines } from '../item-lines.ts';
import { AskedPerson, type AskedPersonOptions } from './asked-person.ts';
import { decisionChoices, PLAIN_DECISIONS } from './decision-choices.ts';
import type { Choice, Dialog } from './dialogs.ts';
import { fieldLines, fieldPrompt, optionLines, readField } from './read-field.ts';
import {
  shownCommand,
  shownMcpApproval,
  shownPermissions,
  shownReason,
  whoAsks,
} from './shown-command.ts';

/** A decision that the protocol has for everything that needs approval. */
type PlainDecision = (typeof PLAIN_DECISIONS)[number];

/**
 * Answers the server's requests: at the terminal, or as `--approve` says. If nobody can be asked,
 * it declines, and says so.
 */
export function answerRequests(client: Client, options: AskedPersonOptions): void {
  const person = new AskedPerson(options);
  answerCommands(client, person);
  answerChanges(client, person);
  answerPermissions(client, person);
  answerQuestions(client, person);
  answerMcpServers(client, person);
}

function answerCommands(client: Client, person: AskedPerson): void {
  client.handle('item/commandExecution/requestApproval', async (params, { signal }) => ({
    decision: await person.decide({
      lines: () => shownCommand(params),
      choices: decisionChoices(params.availableDecisions ?? PLAIN_DECISIONS),
      signal,
    }),
  }));
}

function answerChanges(client: Client, person: AskedPerson): void {
  const changes = new Map<string, FileUpdateChange[]>();
  client.on('item/started', ({ item }) => {
    if (item.type === 'fileChange') changes.set(item.id, item.changes);
  });
  client.on('item/completed', ({ item }) => changes.delete(item.id));
  client.handle(
    'item/fileChange/requestApproval',
    async ({ itemId, agent, reason, grantRoot }, { signal }) => {
      const known = changes.get(itemId) ?? [];
      const shown =
        known.length === 0
          ? ['  (it is not known which)']
          : known.flatMap((change) => changeLines(change, person.screen, true));
      const folder =
        grantRoot === null
          ? []
          : [`  "in this session" allows all changes in ${showText(grantRoot)}`];
      const lines = () => [
        `${whoAsks(agent)} wants to change files.`,
        ...shown,
        ...folder,
        ...shownReason(reason),
      ];
      return {
        decision: await person.decide({ lines, choices: decisionChoices(PLAIN_DECISIONS), signal }),
      };
    },
  );
}

function answerPermissions(client: Client, person: AskedPerson): void {
  client.handle(
    'item/permissions/requestApproval',
    async ({ threadId, turnId, permissions, agent, reason }, { signal }) => {
      const lines = () => [
        `${whoAsks(agent)} wants these permissions:`,
        ...shownPermissions(permissions),
        ...shownReason(reason),
      ];
      const decision = await person.decide({
        lines,
        choices: decisionChoices(PLAIN_DECISIONS),
        signal,
      });
      if (decision === 'cancel') await interrupt(client, threadId, turnId);
      return granted(permissions, decision);
    },
  );
}

function answerQuestions(client: Client, person: AskedPerson): void {
  client.handle('item/tool/requestUserInput', ({ agent, questions }, { signal }) =>
    person.answer(`${whoAsks(agent)} has a question.`, signal, async (dialog) => {
      const answers: Record<string, { answers: string[] }> = {};
      for (const question of questions)
        answers[question.id] = { answers: await answerTo(question, dialog) };
      return { answers };
    }),
  );
}

function answerMcpServers(client: Client, person: AskedPerson): void {
  client.handle('mcpServer/elicitation/request', async (params, { signal }) => {
    const approval = shownMcpApproval(params);
    const { serverName, message } = params;
    if (approval === null)
      return person.answer(
        `The MCP server ${showText(serverName)} asks: ${showText(message)}`,
        signal,
        (dialog) => fillForm(params, dialog),
      );
    const decision = await person.decide({
      lines: () => [showText(message), ...approval.lines],
      choices: mcpChoices(approval.persist),
      signal,
    });
    if (decision === 'cancel') await interrupt(client, params.threadId, params.turnId);
    return elicitationAnswer(decision);
  });
}

/** Interrupts a turn that the user has ended with an answer. */
async function interrupt(client: Client, threadId: string, turnId: string | null): Promise<void> {
  if (turnId === null) return;
  await client.request('turn/interrupt', { threadId, turnId }).catch(() => null);
}

function granted(
  permissions: RequestPermissionProfile,
  decision: PlainDecision,
): PermissionsRequestApprovalResponse {
  const isGranted = decision === 'accept' || decision === 'acceptForSession';
  return {
    permissions: isGranted ? permissions : {},
    scope: decision === 'acceptForSession' ? 'session' : 'turn',
  };
}

/** The decisions about a call of an MCP tool, of which the lasting ones are not always offered. */
function mcpChoices(persist: readonly string[]): Choice<PlainDecision | 'always'>[] {
  const offered = PLAIN_DECISIONS.filter(
    (decision) => decision !== 'acceptForSession' || persist.includes('session'),
  );
  const always = {
    key: 'a',
    label: 'yes, and this tool from now on: config.toml says so then',
    value: 'always',
  } as const;
  return [...decisionChoices(offered), ...(persist.includes('always') ? [always] : [])];
}

function elicitationAnswer(
  decision: PlainDecision | 'always',
): McpServerElicitationRequestResponse {
  switch (decision) {
    case 'acceptForSession':
      return { action: 'accept', content: {}, _meta: { persist: 'session' } };
    case 'always':
      return { action: 'accept', content: {}, _meta: { persist: 'always' } };
    case 'accept':
      return { action: 'accept', content: {} };
    default:
      return { action: decision };
  }
}

async function answerTo(
  { question, header, options, isOther, isSecret }: ToolRequestUserInputQuestion,
  dialog: Dialog,
): Promise<string[]> {
  dialog.show(`${showText(header)}: ${showText(question)}`);
  const choices = options ?? [];
  dialog.show(
    ...optionLines(
      choices.map(
        ({ label, description }) => `${label}${description === '' ? '' : `: ${description}`}`,
      ),
    ),
  );
  const isFree = isOther || choices.length === 0;
  const prompt =
    choices.length === 0 ? 'answer: ' : isFree ? 'number, or another answer: ' : 'number: ';
  for (;;) {
    const typed = (await dialog.line(prompt, { hidden: isSecret })).trim();
    const chosen = choices[Number(typed) - 1] ?? choices.find(({ label }) => label === typed);
    if (chosen !== undefined) return [chosen.label];
    if (isFree && typed !== '') return [typed];
  }
}

const FORM_CHOICES: Choice<'accept' | 'decline' | 'cancel'>[] = [
  { key: 'y', label: 'answer', value: 'accept' },
  { key: 'n', label: 'decline', value: 'decline' },
  { key: 'c', label: 'cancel: neither', value: 'cancel' },
];

/** A question of an MCP server, as a form or with an address to open. */
async function fillForm(
  params: McpServerElicitationRequestParams,
  dialog: Dialog,
): Promise<McpServerElicitationRequestResponse> {
  if (params.mode === 'url')
    dialog.show(`  open ${showText(params.url)}, and answer when you are done`);
  const action = await dialog.choose(FORM_CHOICES);
  if (action !== 'accept' || params.mode === 'url') return { action };
  const { properties, required = [] } = params.requestedSchema;
  const content: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(properties)) {
    const value = await fillField(name, field, { isRequired: required.includes(name), dialog });
    if (value !== null) content[name] = value;
  }
  return { action, content };
}

async function fillField(
  name: string,
  field: McpElicitationPrimitiveSchema,
  how: { isRequired: boolean; dialog: Dialog },
) {
  const { isRequired, dialog } = how;
  dialog.show(...fieldLines(name, field));
  for (;;) {
    const answer = readField(field, await dialog.line(fieldPrompt(field, isRequired)), isRequired);
    if ('value' in answer) return answer.value;
    dialog.show(`  ${answer.problem}`);
  }
}

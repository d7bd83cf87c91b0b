/** The user's messages in the demo. */
export interface DemoTexts {
  first: string;
  long: string;
  source: string;
  fork: string;
  hands: string;
  guarded: string;
  agents: string[];
}

/** The long answer has three long messages: a fast computer streams one of them in two seconds. */
const LONG_MESSAGES = 'repeat 1000000 tick\n'.repeat(3).trim();
/** The task of an agent. The embedded model follows its lines, too. */
const AGENT_TASK =
  'call exec_command {"cmd":"wc -w < hello.txt","login":false}\nsay hello.txt has two words.';

/** Explains the texts below to a reader of the demo. */
export const LANGUAGE_NOTE =
  'The embedded model is no language model: it carries out lines such as `say TEXT` and `call TOOL {…}`, so these are what "you" type here.';

const EMBEDDED_TEXTS: DemoTexts = {
  first: [
    'think A plan first, then a greeting.',
    'call update_plan {"plan":[{"step":"greet","status":"completed"},{"step":"be killed","status":"in_progress"},{"step":"come back","status":"pending"}]}',
    'say Good day! This text arrives word by word, as a model writes it.',
  ].join('\n'),
  long: `say This message is complete before the kill.\n${LONG_MESSAGES}`,
  source: 'say I am back, in another process.',
  fork: 'Who are you?',
  hands: [
    'call exec_command {"cmd":"cat hello.txt","login":false}',
    'call apply_patch {"input":"*** Begin Patch\\n*** Update File: hello.txt\\n@@\\n-Hello.\\n+Hello, heddle.\\n*** End Patch\\n"}',
    'call exec_command {"cmd":"cp hello.txt ../outside.txt","login":false,"sandbox_permissions":"require_escalated","justification":"May the copy be written outside the project?"}',
    'say I changed the greeting, and copied it out of the project.',
  ].join('\n'),
  guarded: [
    'call exec_command {"cmd":"cp hello.txt ../second.txt","login":false,"sandbox_permissions":"require_escalated","justification":"A copy beside the project."}',
    'call exec_command {"cmd":"rm -rf ../outside.txt","login":false,"sandbox_permissions":"require_escalated","justification":"It is no longer needed."}',
    'say The reviewer let me copy, and did not let me delete.',
  ].join('\n'),
  agents: [
    `call spawn_agent ${JSON.stringify({ message: AGENT_TASK, agent_type: 'explorer' })}\nsay An agent is working on it.`,
    'call wait_agent {}\nsay The agent has told me what it found.',
  ],
};

const MODEL_TEXTS: DemoTexts = {
  first: 'Greet me in one sentence.',
  long: 'Write the numbers from one to a thousand in words, one a line, and nothing else.',
  source: 'In one sentence: what did I ask you to write?',
  fork: 'In one sentence: what was the first thing that I asked of you?',
  hands:
    'Do three things: show me hello.txt with cat; with apply_patch make it say "Hello, heddle." instead; copy it to ../outside.txt, for which you must ask to leave the sandbox. Then tell me in a sentence.',
  guarded:
    'Ask to leave the sandbox with one command, and copy hello.txt to ../second.txt. Do nothing else, and tell me in a sentence what happened.',
  agents: [
    'Start one agent that counts the words of hello.txt, wait for it, and tell me in a sentence what it found.',
  ],
};

/** The messages for the embedded model, or for any other. */
export function demoTexts(isEmbedded: boolean): DemoTexts {
  return isEmbedded ? EMBEDDED_TEXTS : MODEL_TEXTS;
}

import { expect, test } from 'vitest';
import { exampleServer, withServers } from '../mcp/mcp-thread.ts';
import { functionCall, message, response, TestModel } from '../support/test-model.ts';
import { startServer } from '../support/test-server.ts';
import { codeIn, section } from './pages.ts';

const FEATURES =
  '[features]\nrequest_permissions_tool = true\ndefault_mode_request_user_input = true\n';

/** The tools in the table of docs/embedded-model.md, without those whose names others choose. */
function listedTools(): string[] {
  const text = section('docs/embedded-model.md', 'Tools');
  const [table = ''] = text.slice(text.indexOf('| call |')).split('\n\n');
  const rows = table.split('\n').slice(2);
  const names = rows
    .flatMap((row) => codeIn(row.split(' | ')[0] ?? ''))
    .map((code) => code.split(' ')[0] ?? '');
  return names.filter((name) => /^[a-z_.]+$/.test(name));
}

test('the table of tools has every tool that a model is offered, and no tool that the server does not have', async () => {
  const listed = listedTools();
  const calls = [...listed, 'no_such_tool'].flatMap((name) =>
    functionCall(name, {}, { callId: `call_${name}` }),
  );
  const model = new TestModel(response(calls), response(message('done')));
  const server = await startServer({ model, config: withServers(`${exampleServer()}${FEATURES}`) });
  const { thread } = await server.client.request('thread/start', {});
  await server.client.turn(thread.id, 'go');
  const [first, second] = model.requests;
  const offered = (first?.tools ?? [])
    .filter((tool) => !('namespace' in tool))
    .map(({ name }) => name);
  expect(offered.length).toBeGreaterThan(12);
  expect(offered.filter((name) => !listed.includes(name))).toEqual([]);
  const outputs = (second?.input ?? []).flatMap((item) =>
    item.type === 'function_call_output' ? [item] : [],
  );
  const unknown = outputs.filter(({ output }) =>
    JSON.stringify(output).includes('There is no tool named'),
  );
  expect(outputs).toHaveLength(listed.length + 1);
  expect(unknown.map(({ call_id: id }) => id)).toEqual(['call_no_such_tool']);
});

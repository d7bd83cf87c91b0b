// @module-tag slow
import { describeLateItems } from './late-items.contract.ts';
import { describeThreadChanges } from './thread-changes.contract.ts';
import { describeThreadLists } from './thread-lists.contract.ts';
import { describeThreadStore } from './thread-store.contract.ts';
import { WorkerHome } from './worker-home.ts';

describeThreadStore('the SQLite store in a thread of its own', async () => new WorkerHome());
describeThreadLists(
  'the lists of the SQLite store in a thread of its own',
  async () => new WorkerHome(),
);
describeThreadChanges('the SQLite store in a thread of its own', async () => new WorkerHome());
describeLateItems('the SQLite store in a thread of its own', async () => new WorkerHome());

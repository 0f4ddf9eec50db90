import type { Migration } from "../../shared/migrate.ts";

export const toolNames: Migration = {
  name: "0099-tool-names",
  sql: `
    -- Every tool name that a published agent ever had stays its own: buyers' programs call it, and pay for it.
    create table tool_names (
      tool_name  text primary key,
      agent_id   text not null references agents
    );
    create index tool_names_of_agent on tool_names (agent_id);
    lock table agents in share row exclusive mode;
    insert into tool_names (tool_name, agent_id) select tool_name, id from agents;

    create function keep_tool_name() returns trigger language plpgsql as $$
    begin
      if tg_op = 'UPDATE' and old.state = 'draft' then
        delete from tool_names where tool_name = old.tool_name and tool_name <> new.tool_name;
      end if;
      insert into tool_names (tool_name, agent_id) values (new.tool_name, new.id) on conflict do nothing;
      if (select agent_id from tool_names where tool_name = new.tool_name) <> new.id then
        raise unique_violation using message = 'the tool name is or was another agent''s', constraint = 'agents_tool_name_key';
      end if;
      return null;
    end $$;
    create trigger agents_tool_name_kept after insert or update of tool_name on agents
      for each row execute function keep_tool_name();
  `,
};

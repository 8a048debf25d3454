import { useQuery } from "convex/react";
import { api } from "../convex/_generated/api";

export function App() {
  const tasks = useQuery(api.tasks.list);
  return <ul>{tasks?.map((task) => <li key={task._id}>{task.title}</li>)}</ul>;
}

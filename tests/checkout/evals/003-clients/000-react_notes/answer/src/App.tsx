import { useMutation, useQuery } from "convex/react";
import { useState } from "react";
import { api } from "../convex/_generated/api";

export default function App() {
  const notes = useQuery(api.notes.list);
  const add = useMutation(api.notes.add);
  const [text, setText] = useState("");
  return (
    <main>
      <ul>{notes?.map((note) => <li key={note._id}>{note.text}</li>)}</ul>
      <input value={text} onChange={(event) => setText(event.target.value)} />
      <button onClick={() => void add({ text })}>Add</button>
    </main>
  );
}

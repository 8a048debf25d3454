import { useMutation, useQuery } from "convex/react";
import { anyApi } from "convex/server";
import { useState } from "react";

export default function App() {
  const notes = useQuery(anyApi.notes!.list!, { author: "Ada" }) as { _id: string; text: string }[] | undefined;
  const add = useMutation(anyApi.notes!.add!);
  const [text, setText] = useState("");
  if (notes === undefined) return <p>Loading...</p>;
  return (
    <form onSubmit={(event) => (event.preventDefault(), void add({ author: "Ada", text, state: "published" }), setText(""))}>
      <ul>
        {notes.map((note) => (
          <li key={note._id}>{note.text}</li>
        ))}
      </ul>
      <input value={text} onChange={(event) => setText(event.target.value)} />
      <button type="submit" disabled={text === ""}>
        Add
      </button>
    </form>
  );
}

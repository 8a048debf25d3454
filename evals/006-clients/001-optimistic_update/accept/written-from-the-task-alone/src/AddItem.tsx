import { useState } from "react";

export function AddItem({ onAdd }: { onAdd: (name: string) => void }) {
  const [text, setText] = useState("");
  const name = text.trim();
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (name !== "") {
          setText("");
          onAdd(name);
        }
      }}
    >
      <input
        aria-label="New item"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit" disabled={name === ""}>
        Add
      </button>
    </form>
  );
}

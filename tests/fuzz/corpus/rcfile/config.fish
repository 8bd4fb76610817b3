set -gx EDITOR vim
if status is-interactive
    # Commands to run in interactive sessions can go here
    abbr -a gs "git status"
    starship init fish | source
end
function fish_greeting
    echo (set_color yellow)"it's"(set_color normal)
end
fish_add_path ~/.local/bin
switch (uname)
    case Linux
        set -gx OS linux
    case '*'
        set -gx OS other
end
